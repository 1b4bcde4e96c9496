"""Numbers from the metrics of a run, whose lines may be damaged."""

import math
from collections.abc import Mapping


def finite_number(value: object) -> float | None:
    """A finite number, rounded to six digits; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(f"{value:.6g}")


def number_map(value: object) -> dict[str, float | None]:
    """Numbers by name; {} if damaged."""
    if not isinstance(value, Mapping):
        return {}
    return {str(name): finite_number(number) for name, number in value.items()}


def number_table(value: object) -> list[list[float | None]]:
    """Rows of numbers; [] if damaged."""
    if not isinstance(value, list):
        return []
    return [[finite_number(number) for number in row] for row in value if isinstance(row, list)]
