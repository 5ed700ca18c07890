"""Proposes what is worth keeping of what happened in a session: structure first, prose only where it was measured."""
