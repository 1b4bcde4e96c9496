"""What attention heads do: metrics, roles, importance, ablation, and reports of all of them.

May import `core`, `data` and `model`. A new metric of a head is a function and an entry of
`METRICS` in `attention_metrics`. Reports and roles do not import torch.
"""
