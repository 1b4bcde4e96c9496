"""The training replay: the curves of a run and its probe traces under one slider.

May import `core`, `components.payload`, `components.labels`, and those modules of `training` and
`jobs` that do not import torch.
"""
