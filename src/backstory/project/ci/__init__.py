"""Continuous integration: test results that are read in, findings that are written out, a gate for anchors."""
