"""What is being traced: regions and what each has seen, options of compiled functions, class members that are exchanged; hooks for lower layers."""
