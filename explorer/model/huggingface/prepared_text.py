"""A text whose tokens are decoded or given, before the pass that captures it, and batches of such
texts."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.model.huggingface.capture.edits import Edits
from explorer.model.huggingface.capture.recording import Recording
from explorer.model.huggingface.decoding import Decoded
from explorer.model.huggingface.tokens import TextTokens
from explorer.model.trace_options import TraceOptions

MOST_TOKENS = 2048
"""Tokens of one batch, of source and target together."""

MOST_LOGITS = 2**25
"""Logits of all rows of one batch: 128 MB."""

MOST_BYTES = 2**28
"""Attention of the texts of which those of equal lengths share batches."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedText:
    """What `trace` knows of a text before it captures a pass.

    labels: of `read`, padding included. recording: has the encoder's values if decoding ran.
    size: bytes of its attention. batched: it may share its pass with others.
    """

    options: TraceOptions
    read: TextTokens
    labels: tuple[str, ...]
    decoded: Decoded
    recording: Recording
    edits: Edits
    facts: dict[str, Any]
    size: int
    batched: bool


def windows(texts: Iterable[PreparedText]) -> Iterator[list[PreparedText]]:
    """The texts in their order, so many at a time that their attention fills `MOST_BYTES`."""
    window: list[PreparedText] = []
    for text in texts:
        window.append(text)
        if sum(one.size for one in window) >= MOST_BYTES:
            yield window
            window = []
    if window:
        yield window


def batches(texts: Sequence[PreparedText], width: int) -> Iterator[list[int]]:
    """The numbers of the texts of each batch, which have equal lengths.

    width: number of logits of a row. A text that was decoded step by step has a batch of its own.
    """
    alike: dict[Hashable, list[int]] = {}
    for number, text in enumerate(texts):
        alone = number if text.decoded.logits.rows else None
        alike.setdefault((text.decoded.inputs.lengths, alone), []).append(number)
    for numbers in alike.values():
        source, target = texts[numbers[0]].decoded.inputs.lengths
        rows = (target or source) * max(width, 1)
        most = max(1, min(MOST_TOKENS // (source + target), MOST_LOGITS // rows))
        for start in range(0, len(numbers), most):
            yield numbers[start : start + most]
