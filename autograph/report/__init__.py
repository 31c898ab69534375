"""What `ag.explain` says, and draws."""
