"""The map of the project: made from its tree and its manifests, never kept by hand."""
