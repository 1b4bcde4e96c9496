"""The Transformer: its config, hook points, decoding, checkpoints, tracing, and the catalog.

May import `core` and `data`. Without torch: the config, and the modules that list models
before one is loaded.
"""
