"""The number of threads torch computes with: one for small work, else what the program has set.

A small operation is done before the second thread has begun, and on a busy machine the first one
then waits until the second one gets a core.
"""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import torch

SMALL = 2 * 10**9
"""Multiplications in one pass through a model, below which one thread computes it."""


@contextmanager
def threads_for(parameters: int, tokens: int) -> Iterator[None]:
    """A block that computes with one thread if its work is small.

    parameters: of the model.
    tokens: how many go through it in one pass, those of all sequences of a batch.

    What the program that calls has set is as before after the block, and for its other threads
    also during the block.
    """
    usual = torch.get_num_threads()
    if usual == 1 or tokens * parameters >= SMALL:
        yield
        return
    alone = threading.active_count() == 1
    torch.set_num_threads(1)
    try:
        if not alone:
            _setter(os.getpid()).submit(torch.set_num_threads, usual).result()
        yield
    finally:
        torch.set_num_threads(usual)


@cache
def _setter(process: int) -> ThreadPoolExecutor:
    """A thread of its own. `torch.set_num_threads` sets two values: that of the calling thread,
    and that of all threads which have not computed yet; called in here, the second one alone.

    process: whose thread it is; a forked process has none of its parent's.
    """
    return ThreadPoolExecutor(1, thread_name_prefix="torch-threads")
