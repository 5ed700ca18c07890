"""One module for each view of the page."""
