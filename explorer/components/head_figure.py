"""The heads of a trace as a Plotly figure that can be changed and combined with others."""

import math
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.components.map_layout import map_hover, map_layout, plain
from explorer.core.errors import TraceError
from explorer.core.interventions import removed_heads
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.trace import Trace
from explorer.core.vocabulary import shorten

if TYPE_CHECKING:
    from explorer.components.table_figure import TableFigure

RAMP = ["#ffffff", "#c3d6ec", "#7ba3d0", "#31629f", "#08264f"]
_GREY = "#c9ccd2"
_BETWEEN = "#e9ebef"  # two heads
_HAIRLINED = 40  # cells across or down, of at least some 12 px; with more, lines would hide weights
_REPLACED = {"zero": "zero", "mean": "its mean"}
_NAMES = "query", "key"


def head_figure(
    trace: Trace, site: str, layer: int, head: int, colour_limit: float | None
) -> "TableFigure":
    """One head, see `explorer.figure`; its table has NaN in masked cells. Raises `TraceError`."""
    table = trace.table(site, layer, head)
    weights, codes = table.to_numpy(), trace.closed(site, layer, head)
    tokens = trace.queries(site), trace.keys(site)
    cell, whole = map_hover(_NAMES, *tokens)
    gap = 1 if max(weights.shape) <= _HAIRLINED else 0  # two neighbours of one weight are two cells
    labels = {"x": list(range(len(tokens[1]))), "y": list(range(len(tokens[0]))), **whole}
    removed = removed_heads(trace.facts, site, *trace.attention(site).shape[:2])
    how = removed.get((layer, head))
    title = _title(trace, f"{site} attention, L{layer} H{head}")
    title += f"; this head is removed, its output is {_REPLACED[how]}" if how else ""
    cells = _cells(weights, codes, cell, colour_limit, {"xgap": gap, "ygap": gap, **labels})
    reason = f"{cell}: masked, %{{text}}<extra></extra>"
    cells[1] |= {"text": np.array(REASONS)[codes], "hovertemplate": reason}
    return _figure(
        cells,
        map_layout(title, _NAMES, *tokens),
        table.mask(codes != UNMASKED),
    )


def heads_figure(
    trace: Trace, site: str, layer: int | None, head: int | None, colour_limit: float | None
) -> "TableFigure":
    """Heads side by side, a row for each layer; its table has a row for each unmasked cell.

    layer, head: None = all. Raises `TraceError`.
    """
    sizes = trace.attention(site).shape[:2]
    layers, heads = (
        list(range(size)) if one is None else [one]
        for size, one in zip(sizes, (layer, head), strict=True)
    )
    weights = [[trace.table(site, one, other).to_numpy() for other in heads] for one in layers]
    codes = [[trace.closed(site, one, other) for other in heads] for one in layers]
    names = [f"L{one}" for one in layers], [f"H{one}" for one in heads]
    sides = (names[0], "query", trace.queries(site)), (names[1], "key", trace.keys(site))
    layout = map_layout(_title(trace, f"{site} attention"), ("layer", "head"), *names)
    layout["plot_bgcolor"] = _BETWEEN
    lines = {}
    for axis, (blocks, name, tokens) in zip("yx", sides, strict=True):
        lines[axis] = _names_of_lines(blocks, name, tokens)
        middles = lines[axis][(len(tokens) - 1) // 2 :: len(tokens) + 1]
        ticks = {"type": "category", "tickvals": middles, "ticktext": blocks}
        layout[f"{axis}axis"] = layout[f"{axis}axis"] | ticks
    cells = _cells(
        _side_by_side(weights, np.nan),
        _side_by_side(codes, UNMASKED),
        "%{y}<br>%{x}",
        colour_limit,
        lines,
    )
    return _figure(cells, layout, _long_table(trace, site, layers, heads))


def _figure(
    cells: list[dict[str, Any]], layout: dict[str, object], table: pd.DataFrame
) -> "TableFigure":
    from explorer.components.table_figure import TableFigure  # late: Plotly takes a second

    return TableFigure({"data": cells, "layout": layout}, table=table)


def _cells(
    weights: NDArray[np.floating],
    codes: NDArray[np.uint8],
    cell: str,
    colour_limit: float | None,
    options: dict[str, Any],
) -> list[dict[str, Any]]:
    """Two heatmaps, of the weights and of the masked cells. cell: what the pointer shows first."""
    masked = codes != UNMASKED
    common = {"type": "heatmap", "hoverongaps": False, **options}
    shown = {
        "z": np.where(masked, np.nan, weights),
        "zmin": 0,
        "zmax": _limit(colour_limit, weights),
        "colorscale": RAMP,
        "colorbar": {"title": {"text": "weight"}},
        "name": "weight",
        "hovertemplate": f"{cell}: %{{z:.4f}}<extra></extra>",
    }
    reasons = {
        "z": np.where(masked, np.float32(1), np.float32(np.nan)),
        "colorscale": [_GREY, _GREY],
        "showscale": False,
        "name": "masked",
        "hovertemplate": f"{cell}: masked<extra></extra>",
    }
    return [common | shown, common | reasons]


def _side_by_side(blocks: Sequence[Sequence[NDArray[Any]]], gap: Any) -> NDArray[Any]:
    """Blocks (query, key) of one size in one array, with a line of `gap` between two of them."""
    padded = [
        [np.pad(one, (0, 1), constant_values=gap) for one in row]  # (query + 1, key + 1)
        for row in blocks
    ]
    return np.block(padded)[:-1, :-1]


def _names_of_lines(blocks: Sequence[str], name: str, tokens: Sequence[str]) -> list[str]:
    """What the pointer shows of each row or column, and blanks between two blocks."""
    found: list[str] = []
    for number, block in enumerate(blocks):
        own = enumerate(tokens)
        found += [f"{block}, {name} {at} {plain(shorten(token))}" for at, token in own]
        found.append(" " * (number + 1))  # names differ
    return found[:-1]


def _long_table(
    trace: Trace, site: str, layers: Sequence[int], heads: Sequence[int]
) -> pd.DataFrame:
    tokens = [np.array(side, object) for side in (trace.queries(site), trace.keys(site))]
    parts = []
    for layer, head in product(layers, heads):
        query, key = np.nonzero(trace.mask(site, layer, head))
        own = {"layer": layer, "head": head, "query": query, "key": key}
        own |= {"query_token": tokens[0][query], "key_token": tokens[1][key]}
        parts.append(
            pd.DataFrame({**own, "weight": trace.attention(site)[layer, head, query, key]})
        )
    return pd.concat(parts, ignore_index=True)


def _title(trace: Trace, shown: str) -> str:
    model = trace.facts.get("model")
    return shown + (f" of {model}" if model else "")


def _limit(asked: float | None, weights: NDArray[np.floating]) -> float:
    """The weight of the darkest colour. Raises `TraceError`."""
    if asked is None:
        return max(1.0, float(np.nanmax(weights, initial=0)))
    if not (isinstance(asked, int | float) and 0 < asked < math.inf):
        raise TraceError("no_colour_limit", got=shorten(repr(asked)))
    return float(asked)
