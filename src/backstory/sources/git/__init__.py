"""The git reader: read-only, through the git command. Imports nothing: it lies on the hook path."""
