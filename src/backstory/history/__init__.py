"""The disposable DuckDB history: everything that a project wrote, as tables that can be joined with SQL."""
