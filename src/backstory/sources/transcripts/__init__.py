"""What agents did: the transcripts that their clients leave, one module for each client, one stream of items."""
