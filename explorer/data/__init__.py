"""Training data: toy tasks and parallel corpora.

May import `core`; torch only in `batch`, `toy_data`, `continued_data`, and the folders of tasks.
"""
