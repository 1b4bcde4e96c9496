"""A directory, or a model in memory → a model, opened by the library."""
