"""What removing or changing heads does to outputs and losses."""
