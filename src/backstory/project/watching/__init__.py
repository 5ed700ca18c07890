"""Watching the work tree for churn: a file that is edited again and again is proposed as a hot file."""
