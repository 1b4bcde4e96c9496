"""The toy tasks, one file each; may import torch and `core`.

A new file here is a new task, called by the file's name, with two functions:

    answer(symbols, lengths)    the rule: ids (B, L) → (B, L); positions from `lengths` (B,) on
                                are padding, whose answer is ignored
    alignment(symbols)          the gold alignment: for each symbol of the answer to one sequence,
                                the positions in the source that it may come from
"""
