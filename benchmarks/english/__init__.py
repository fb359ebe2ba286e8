"""Plain English: how well it is read, author by author, and the training of its ranker."""
