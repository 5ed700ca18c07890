"""Answers: live, search, rank, freshness, conflicts, brief."""
