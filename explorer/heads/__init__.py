"""Measurements of attention heads, one subpackage a subject.

From the ground up: `metrics`, `roles`, `reports`; then `contributions`, `alignment`,
`comparison` and `search`, which do not import one another; `removal`; `measure`, which makes a
head report, and `patching`; `pruning_curve`. May import `core`, `data` and `model`. A new metric of
a head is a function and an entry of `METRICS` in `metrics/attention_metrics.py`. Reports and roles
do not import torch.
"""
