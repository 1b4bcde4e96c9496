"""Traces of many texts: decoded in batches, and captured in one pass a batch.

`ExplorableModel.trace` decodes each text alone and reads all weights at each step; here a step
reads them once for all texts of a batch.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.mask_reasons import path_codes
from explorer.core.trace import Trace
from explorer.core.vocabulary import BOS, PAD
from explorer.model.checkpoint import Checkpoint
from explorer.model.greedy_decoding import decoding_steps
from explorer.model.masks import padding_mask, path_mask
from explorer.model.points import Point, kept
from explorer.model.row_logits import RowLogits, largest_difference
from explorer.model.threads import threads_for
from explorer.model.trace_assembly import Decoded, assembled
from explorer.model.transformer import Transformer
from explorer.model.transformer_passes import token_rows
from explorer.model.transformer_run import acting

MOST_TOKENS = 2048
"""Source tokens of one batch, padding included; an output is about as long as its source."""

MOST_LOGITS = 2**27
"""Logits of all steps of one batch, if no output ended before the last position: 512 MB."""


@torch.inference_mode()
def batched_traces(
    checkpoint: Checkpoint, sources: Sequence[Sequence[int]], facts: Sequence[Mapping[str, Any]]
) -> list[Trace]:
    """The trace of each source, as `ExplorableModel.trace` returns it without options.

    sources: ids with their end. facts: of each trace; `facts["batched"]`, the number of texts in
        its batch, is added.

    Weights and probabilities equal those of `trace` to rounding. A token differs only where two
    tokens are equally probable to rounding. Raises `TraceSizeError` on more attention than a trace
    may have.
    """
    found: dict[int, Trace] = {}
    config = checkpoint.model.config
    most_texts = max(1, MOST_LOGITS // (config.max_length * config.target_vocabulary))
    for numbers in _batches(sources, most_texts):
        own = [sources[number] for number in numbers]
        traces = _traces(checkpoint, own, [facts[number] for number in numbers])
        found |= zip(numbers, traces, strict=True)
    return [found[number] for number in range(len(sources))]


def _batches(sources: Sequence[Sequence[int]], most_texts: int) -> Iterator[list[int]]:
    """The numbers of the sources of each batch: of similar length, at most `MOST_TOKENS`."""
    order = sorted(range(len(sources)), key=lambda number: len(sources[number]))
    batch: list[int] = []
    for number in order:
        tokens = (len(batch) + 1) * len(sources[number])
        if batch and (tokens > MOST_TOKENS or len(batch) == most_texts):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _traces(
    checkpoint: Checkpoint, sources: Sequence[Sequence[int]], facts: Sequence[Mapping[str, Any]]
) -> Iterator[Trace]:
    """One batch: decode, then capture a pass over the result."""
    transformer, config = checkpoint.model, checkpoint.model.config
    source = token_rows(sources).ids.to(transformer.device)  # (N, S)
    mask = padding_mask(source)
    with threads_for(config.parameters, source.numel()):
        memory = transformer.encode(source, mask)  # (N, S, D)
    with threads_for(config.parameters, len(source)):
        steps = list(decoding_steps(transformer, memory, mask, config.max_length))
    chosen = torch.stack([token for _, token in steps], 1)  # (N, T)
    queries = torch.cat([torch.full_like(chosen[:, :1], BOS), chosen[:, :-1]], 1)  # (N, T)
    queries = queries.masked_fill(chosen == PAD, PAD)  # an end token is chosen but never fed in
    with threads_for(config.parameters, source.numel() + chosen.numel()):
        hooked, weights = _captured(transformer, source, queries)
        plain = transformer.decoder_output(queries, memory, mask)
    for row, (known, ids) in enumerate(zip(facts, sources, strict=True)):
        length = int((chosen[row] != PAD).sum())
        cached = RowLogits.of_steps([logits[[row]] for logits, _ in steps[:length]])
        full, again = (
            RowLogits.of_states(states[[row], :length], transformer.logits, cached.width)
            for states in (plain, hooked)
        )
        measured = {
            "hooked_equals_plain": largest_difference(again, full),
            "cached_equals_full": largest_difference(cached, full),
        }
        arrays = _unpadded(weights, row, len(ids), length, config.causal)
        decoded = Decoded(torch.tensor(ids), chosen[row, :length].cpu(), cached)
        batched = {**known, "given": False, "batched": len(sources)}
        yield assembled(checkpoint, decoded, arrays, measured, batched)


def _captured(
    transformer: Transformer, source: Tensor, queries: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """The decoder's output (N, T, D) of one pass, and by site its weights (N, L, H, Q, K)."""
    places = transformer.config.attentions
    readers, values = kept(Point("pattern", *place) for place in places)
    with acting(transformer, readers=readers):
        states = transformer.hidden(source, queries)
    stacked = {
        site: torch.stack([values[Point("pattern", *place)] for place in own], 1).cpu()
        for site, own in groupby(places, lambda place: place[0])
    }
    return states, stacked


def _unpadded(
    weights: Mapping[str, Tensor], row: int, source: int, target: int, causal: bool
) -> dict[str, NDArray[Any]]:
    """Arrays of one text without padding: weights (L, H, Q, K) and codes of the mask.

    source, target: numbers of its tokens.
    """
    tokens = [torch.ones(length, dtype=torch.bool) for length in (source, target)]
    masks = {site: path_mask(site, *tokens, causal=causal).numpy() for site in weights}
    arrays: dict[str, NDArray[Any]] = {}
    for site, own in weights.items():
        queries, keys = masks[site].shape
        arrays[f"{site}.attention"] = own[row, :, :, :queries, :keys].numpy().copy()
    return arrays | path_codes(masks, np.zeros(source, dtype=np.bool_))
