"""Metrics of attention, their evaluation batches, intervals and tests."""
