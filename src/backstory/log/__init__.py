"""The only truth that we write: append, read, verify, redact."""
