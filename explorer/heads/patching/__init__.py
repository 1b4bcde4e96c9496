"""Activation patching: which values of one run, put into another, restore what it predicts."""
