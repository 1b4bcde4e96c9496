"""One run tries some of the benchmarks, each of which takes several seconds."""

from pathlib import Path

import pytest

from tests.support.sample import sampled

MOST = 4
"""Benchmarks in one run; `CASES=all` tries each."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the benchmarks beyond a sample; those that are named alone are always tried."""
    ours = [item for item in items if item.path.parent == Path(__file__).parent]
    taken = sampled(sorted({item.path for item in ours if "timing" not in item.path.stem}), MOST)
    for item in ours:
        if "timing" not in item.path.stem and item.path not in taken:
            item.add_marker(pytest.mark.skip(reason="beyond this run's sample of benchmarks"))
