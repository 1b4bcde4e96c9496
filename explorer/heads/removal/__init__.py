"""Effect of removing or changing heads on outputs and losses."""
