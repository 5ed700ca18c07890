"""One module for each kind of entry."""
