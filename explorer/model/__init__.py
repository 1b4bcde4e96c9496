"""The Transformer: its config, hook points, decoding, checkpoints, tracing, and the catalog.

May import `core` and `data`. Without torch: `config`, `attention_paths`, `catalog`,
`model_summary` and `examples`.
"""
