"""The weight of a cross head on the gold position by chance."""

from collections.abc import Callable, Mapping

from explorer.training.config import TrainingConfig

_GOLD_POSITIONS: Mapping[str, Callable[[int, int], float]] = {
    "copy": lambda length, symbols: 1.0,
    "reverse": lambda length, symbols: 1.0,
    "sort": lambda length, symbols: 1 + (length - 1) / symbols,  # equal symbols: any of them
}
"""By task: how many positions a symbol of the answer may come from, on average, given the length
and the count of distinct symbols."""


def chance_weight(config: TrainingConfig) -> float | None:
    """Gold weight of a head with equal weights on all keys: 1/(n + 1) for each of n symbols and the
    end of the sequence, averaged over the lengths. None for a task without a known gold."""
    positions = _GOLD_POSITIONS.get(config.task)
    if positions is None:
        return None
    symbols = len(config.symbols)
    weights = [positions(n, symbols) / (n + 1) for n in range(1, config.longest + 1)]
    return sum(weights) / len(weights)
