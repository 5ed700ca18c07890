"""Memories of other tools, taken in: proposed, with where they come from, and once."""
