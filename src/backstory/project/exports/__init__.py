"""The memory written out for people: Markdown in one page or in many, and the block for instruction files."""
