"""The page for people: server-rendered, on this machine alone."""
