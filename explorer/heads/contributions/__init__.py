"""What tokens, heads and layers contribute to an output, beyond the weights of attention."""
