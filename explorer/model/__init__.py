"""The Transformer: its config, hook points, decoding, checkpoints, tracing, and the catalog.

May import `core` and `data`. Without torch: the config, and what lists models before one is
loaded.
"""
