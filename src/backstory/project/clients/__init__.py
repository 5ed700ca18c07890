"""The clients: one module each, with its files, its events and what it cannot do; nothing of them is imported here."""
