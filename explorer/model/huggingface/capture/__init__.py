"""The attention of a pass: recorded, changed, and verified when a model is opened."""
