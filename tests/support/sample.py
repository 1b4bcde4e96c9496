"""Which cases of a large check one run takes: a sample that changes from run to run.

`CASES=all` takes all of them; `SEED`, which pytest prints, repeats a sample.
"""

import os
import random
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

ALL = os.environ.get("CASES") == "all"
SEED = int(os.environ.setdefault("SEED", str(random.randrange(1000))))
"""In the environment also for the processes that pytest starts: all of them need the same cases."""


def sampled(cases: Iterable[T], count: int) -> list[T]:
    """`count` of the cases, in their order, or all of them."""
    every = list(cases)
    if ALL or len(every) <= count:
        return every
    chosen = random.Random(SEED).sample(range(len(every)), count)
    return [every[number] for number in sorted(chosen)]
