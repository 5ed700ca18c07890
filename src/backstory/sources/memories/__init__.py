"""Memories that other tools keep, read as items that could become entries."""
