"""The two forms of a function: the user's statements with an entry (plain), and the converted ones (staged); what is called for callees."""
