"""The archive of sessions: what agents did in this project, findable, and where each piece of it stands."""
