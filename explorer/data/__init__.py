"""Training data: toy tasks and parallel corpora.

May import `core`; torch only in `batch`, `toy_data` and `toy_tasks`.
"""
