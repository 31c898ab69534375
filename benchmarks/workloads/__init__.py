"""The six workloads of the AutoGraph paper, as imperative programs and by hand with `lax`."""
