"""Metrics of attention, their evaluation batches, and intervals."""
