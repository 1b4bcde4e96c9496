"""What heads do by their weights alone."""
