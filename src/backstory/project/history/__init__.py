"""The history's use cases: reading the sources, refreshing both derived stores, asking. Imports nothing."""
