"""What turns texts into vectors: a local model, or a provider that is asked over the network."""
