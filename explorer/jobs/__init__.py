"""Work that goes on in processes of its own: trainings and measurements.

May import `core`, `data`, `model`, `heads` and `training`. Only `run_worker` imports torch.
"""
