"""A run that takes seconds, and what its moments say."""

from dataclasses import replace

from explorer.training.run_directory import Run
from tests.support.tiny_configs import TINY

LONGER = replace(TINY, dropout=0.1, steps=60)


def losses(run: Run) -> list[tuple[int, float]]:
    return [(moment["step"], moment["loss"]) for moment in run.moments()]
