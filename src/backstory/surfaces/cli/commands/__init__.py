"""One module per command; each names its click command `command`."""
