"""Training: configs, trainer, evaluation, and the files of a training.

May import `core`, `data`, `model` and `heads`. Configs, cost estimates and run files do not
import torch.
"""
