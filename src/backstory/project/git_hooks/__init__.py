"""Git hooks: who manages them, what is put there, and what each of them does."""
