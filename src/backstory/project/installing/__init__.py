"""Writing our part into the clients' files and taking it out again: plan, preview, apply, undo."""
