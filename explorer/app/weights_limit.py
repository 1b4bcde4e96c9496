"""The limit on traces whose weights are all sent to the browser at once."""

from explorer.core.errors import TraceSizeError
from explorer.core.sites import sides
from explorer.core.trace import Trace
from explorer.core.word_segmentation import PADDING_LABELS

MOST_CELLS = 6_000_000
"""Largest number of weights in a trace that is compared: the browser gets all of them."""


def refuse_large(trace: Trace) -> None:
    """Raise `TraceSizeError` for a trace with too many weights for a comparison, not counting its
    padding."""
    source = len(trace.source_tokens) - sum(map(trace.source_tokens.count, PADDING_LABELS))
    tokens = sides(source, len(trace.target_tokens))
    cells = 0
    for site in trace.sites:
        layers, heads = trace.attention(site).shape[:2]
        queries, keys = tokens[site]
        cells += layers * heads * queries * keys
    if cells > MOST_CELLS:
        raise TraceSizeError("too_many_cells", cells=f"{cells:,}", most=f"{MOST_CELLS:,}")
