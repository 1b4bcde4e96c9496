"""Head reports: one table of all heads of a model, its checks, and where reports are stored."""
