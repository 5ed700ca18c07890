"""The disposable SQLite index: schema, refresh, query. Nothing is imported here: hooks start through it."""
