"""Measurements of speed and memory, one module each: `python -m benchmarks.tracing --help`.

They may import everything below `explorer` and the helpers in `tests/support`.
"""
