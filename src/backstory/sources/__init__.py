"""Truth that backstory only reads. Imports nothing: it lies on the hook path."""
