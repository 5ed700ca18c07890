"""What agents did in this project: reading their transcripts, finding in them, and what comes of them."""
