"""Comparison of two traces: of two texts, models or moments, or with interventions."""
