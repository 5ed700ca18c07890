"""Text edits that change our own entries and keep every other byte: JSON, JSON with comments, TOML, Markdown."""
