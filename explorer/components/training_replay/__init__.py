"""The training replay: the curves of a run and its probe traces under one slider.

May import `core`, `components.shared` and the torch-free modules of `training`.
"""
