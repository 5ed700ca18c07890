"""What a project declares that it depends on, from the files that its ecosystems use."""
