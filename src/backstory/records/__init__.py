"""What a memory is: frozen types, ids, codec and the fold of operations into standing. No I/O."""
