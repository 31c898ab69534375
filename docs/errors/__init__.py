"""The pages of the errors, one for each id; installed as `autograph.pages`."""
