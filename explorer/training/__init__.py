"""Training: configs, trainer, evaluation, and the files that a training leaves.

May import `core`, `data`, `model` and `heads`. Configs, cost estimates and run files do not
import torch.
"""
