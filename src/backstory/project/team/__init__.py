"""Several people on one memory: what a branch changes in it, and who may say what."""
