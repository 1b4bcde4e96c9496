"""Contributions of tokens, heads and layers to an output, beyond the weights of attention."""
