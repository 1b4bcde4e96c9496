"""Pruning curves: the loss of a model with fewer and fewer heads."""
