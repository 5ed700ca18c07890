"""The tools by the names and arguments that users of projectmem 0.3.4 know, answered by this memory."""
