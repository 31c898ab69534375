"""Effects on the host: `print`, logging, progress, files and random numbers of Python."""
