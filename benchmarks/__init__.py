"""Measures the budgets as ratios in one run, and writes them to `docs/benchmarks.md`. Never a timed test."""
