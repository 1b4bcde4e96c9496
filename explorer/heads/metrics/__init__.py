"""Metrics of attention and what they are measured on: evaluation batches, intervals, tests."""
