"""Training: configs, trainer, evaluation, and runs in folders with their processes.

May import `core`, `data`, `model` and `heads`. Configs, cost estimates, run folders, locks,
heartbeats and launchers do not import torch.
"""
