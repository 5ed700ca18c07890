"""The use cases: they wire the parts and are the only door for surfaces."""
