"""What `doctor` looks at: one module for each thing that the memory rests on."""
