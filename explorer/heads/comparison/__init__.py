"""What two traces have in common: of two texts, models, moments, or with interventions."""
