"""One detector a module; each says what it looks for and how often it is right."""
