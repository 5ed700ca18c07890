"""Lessons across projects: the machine-wide log, what goes into it, and what of it reaches a project."""
