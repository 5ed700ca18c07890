"""Entries for the hooks of coding agents."""
