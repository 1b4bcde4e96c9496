"""Number of threads of torch: one for small work, else as the program has set it.

One thread finishes a small operation before a second has begun; on a busy machine it then waits
until the second one gets a core.
"""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import torch

SMALL = 2 * 10**9
"""Multiplications in one pass through a model; below this, one thread computes it."""


@contextmanager
def threads_for(parameters: int, tokens: int) -> Iterator[None]:
    """A block that computes with one thread if its work is small.

    parameters: of the model.
    tokens: number in one pass, over all sequences of a batch.

    The setting of the calling program is restored after the block. Its other threads keep it
    during the block.
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
    """A separate thread for calls of `torch.set_num_threads`.

    That sets two values: the one of the calling thread, and the one of all threads that have not
    computed yet. Called in this thread, it does not change the caller's value.

    process: id of the process that owns the thread; a forked process has none of its parent's.
    """
    return ThreadPoolExecutor(1, thread_name_prefix="torch-threads")
