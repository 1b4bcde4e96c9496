"""What models learn from: toy tasks and parallel corpora.

May import `core`; torch only in `toy_data` and `toy_tasks`.
"""
