"""Traces made by hand, for tests and benchmarks that need no model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.mask_reasons import LATER, PADDING, mask_codes
from explorer.core.trace import Trace

CANDIDATES = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "甲", "<eos>")


def example_trace(
    source: Sequence[str] = ("7", "3", "9", "1", "4"), padding: int = 2, seed: int = 7
) -> Trace:
    """`source` reversed: 2 layers × 4 heads a site, a sharp anti-diagonal head among them."""
    generator = np.random.default_rng(seed)
    count = len(source)
    source_tokens = (*source, "<eos>", *("<pad>",) * padding)
    output = tuple(reversed(source))
    target_tokens, predicted = ("<bos>", *output), (*output, "<eos>")
    gold = np.zeros((count + 1, len(source_tokens)), dtype=np.bool_)
    for row in range(count):
        gold[row, count - 1 - row] = True
    aligned = gold.astype(np.float32)
    aligned[count, count] = 1
    arrays = _sites(generator, len(target_tokens), len(source_tokens), padding, 2, 4, aligned)
    arrays["gold"] = gold
    steps, labels = _steps(generator, predicted)
    return Trace(
        source_tokens=source_tokens,
        target_tokens=target_tokens,
        predicted_tokens=predicted,
        text=" ".join(output),
        arrays=arrays | steps,
        candidate_tokens=labels,
        measured={
            "hooked_equals_plain": 0.0,
            "cached_equals_full": 4.1e-7,
            "padding_changes_nothing": 2.2e-7,
        },
        facts={"task": "reverse"},
    )


def random_trace(
    queries: int, keys: int, layers: int = 2, heads: int = 4, *, seed: int = 11
) -> Trace:
    """A large trace of `layers` × `heads` at every site, diagonal heads and diffuse ones."""
    generator = np.random.default_rng(seed)
    vocabulary = np.array(CANDIDATES[:-1])
    source = (*vocabulary[generator.integers(len(vocabulary), size=keys - 1)], "<eos>")
    predicted = (*vocabulary[generator.integers(len(vocabulary), size=queries - 1)], "<eos>")
    aligned = np.zeros((queries, keys), dtype=np.float32)
    columns = np.minimum((np.arange(queries) * keys) // queries, keys - 1)
    aligned[np.arange(queries), keys - 1 - columns] = 1
    arrays = _sites(generator, queries, keys, 0, layers, heads, aligned)
    arrays["gold"] = aligned.astype(np.bool_)
    steps, labels = _steps(generator, tuple(str(token) for token in predicted))
    return Trace(
        source_tokens=tuple(str(token) for token in source),
        target_tokens=("<bos>", *(str(token) for token in predicted[:-1])),
        predicted_tokens=tuple(str(token) for token in predicted),
        text=" ".join(str(token) for token in predicted[:-1]),
        arrays=arrays | steps,
        candidate_tokens=labels,
    )


def long_trace(tokens: int, layers: int = 12, heads: int = 12, *, seed: int = 7) -> Trace:
    """A decoder alone that read a prompt of words of one and two pieces and wrote 20 tokens.

    All layers are one, so that the trace takes the memory of a layer.
    """
    generator = np.random.default_rng(seed)
    codes = mask_codes(tokens, tokens, causal=True)
    layer = np.empty((heads, tokens, tokens), dtype=np.float32)
    for head in range(heads):
        scores = generator.standard_normal(codes.shape, dtype=np.float32)
        scores += 6 * np.eye(tokens, k=-5 * head, dtype=np.float32)
        layer[head] = np.exp(np.where(codes != 0, -np.inf, scores))
    layer /= layer.sum(-1, keepdims=True)
    vocabulary = [f"▁word{number}" for number in range(300)] + [f"s{end}" for end in range(100)]
    predicted = [vocabulary[index] for index in generator.integers(400, size=tokens)]
    steps, labels = _steps(generator, predicted)
    weights = np.broadcast_to(layer, (layers, *layer.shape))
    return Trace(
        source_tokens=(),
        target_tokens=("<bos>", *predicted[:-1]),
        predicted_tokens=tuple(predicted),
        text=" ".join(predicted[-20:]),
        arrays={"decoder.attention": weights, "decoder.closed": codes, **steps},
        candidate_tokens=labels,
        facts={"prompt": max(tokens - 19, 1)},
    )


def _sites(
    generator: np.random.Generator,
    queries: int,
    keys: int,
    padding: int,
    layers: int,
    heads: int,
    aligned: NDArray[np.float32],
) -> dict[str, NDArray[Any]]:
    """Attention and mask codes of the three sites; the heads of the last layer are sharper."""
    masks = {
        "encoder": mask_codes(keys, keys, padded_keys=padding),
        "decoder": mask_codes(queries, queries, causal=True),
        "cross": mask_codes(queries, keys, padded_keys=padding),
    }
    arrays: dict[str, NDArray[Any]] = {}
    for site, codes in masks.items():
        pattern = aligned if site == "cross" else np.eye(*codes.shape, dtype=np.float32)
        if site == "encoder":
            pattern = np.flipud(pattern)
        scores = generator.normal(0, 1, (layers, heads, *codes.shape))
        sharpness = np.linspace(0, 6.5, layers * heads).reshape(layers, heads, 1, 1)
        scores = np.where(codes != 0, -np.inf, scores + sharpness * pattern)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        arrays[f"{site}.attention"] = weights.astype(np.float32)  # (layer, head, query, key)
        arrays[f"{site}.closed"] = codes
    return arrays


def _steps(
    generator: np.random.Generator, predicted: Sequence[str]
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Ten candidates a step, the predicted one first."""
    rows: list[tuple[int, int, float, bool, bool, int]] = []
    labels: list[str] = []
    for step, token in enumerate(predicted, start=1):
        others = [label for label in CANDIDATES if label != token][:9]
        rest = np.sort(generator.dirichlet(np.full(9, 0.4)))[::-1] * generator.uniform(0.001, 0.3)
        probabilities = [1 - float(rest.sum()), *map(float, rest)]
        for rank, label in enumerate([token, *others], start=1):
            index = CANDIDATES.index(label) if label in CANDIDATES else 99
            rows.append((step, rank, probabilities[rank - 1], rank == 1, False, index + 3))
            labels.append(label)
    kinds = (np.int64, np.int64, np.float32, np.bool_, np.bool_, np.int64)
    names = ("step", "rank", "probability", "chosen", "forced", "id")
    columns = zip(names, kinds, zip(*rows, strict=True), strict=True)
    return {f"steps.{name}": np.array(data, kind) for name, kind, data in columns}, tuple(labels)


def pieces_trace(**changes: Any) -> Trace:
    """ "The ca|t ." → "L|e ch|at", one layer, two heads, weights that are easily added up."""
    source = ("▁The", "▁ca", "t", ".", "<eos>", "<pad>")
    target = ("<bos>", "▁L", "e", "▁ch", "at")
    cross = np.zeros((1, 2, 5, 6), dtype=np.float32)
    cross[0, 0] = np.array(
        [
            [0.50, 0.25, 0.125, 0.0625, 0.0625, 0],
            [0.25, 0.25, 0.25, 0.125, 0.125, 0],
            [0.75, 0.00, 0.25, 0.000, 0.000, 0],
            [0.00, 0.50, 0.50, 0.000, 0.000, 0],
            [0.125, 0.25, 0.375, 0.125, 0.125, 0],
        ]
    )
    cross[0, 1, :, 0] = 1
    mask_codes = np.zeros((5, 6), dtype=np.uint8)
    mask_codes[:, 5] = PADDING
    decoder = np.tril(np.ones((1, 2, 5, 5), dtype=np.float32))
    decoder /= decoder.sum(-1, keepdims=True)
    causal = np.triu(np.full((5, 5), LATER, dtype=np.uint8), 1)
    gold = np.zeros((5, 6), dtype=np.bool_)
    gold[0, 0] = gold[1, 0] = gold[2, 1] = gold[3, 2] = True
    steps = np.repeat(np.arange(1, 6), 2)
    arrays = {
        "cross.attention": cross,
        "cross.closed": mask_codes,
        "decoder.attention": decoder,
        "decoder.closed": causal,
        "gold": gold,
        "steps.step": steps,
        "steps.rank": np.tile([1, 2], 5),
        "steps.probability": np.tile([0.75, 0.25], 5).astype(np.float32),
        "steps.chosen": np.tile([True, False], 5),
        "steps.forced": np.zeros(10, dtype=np.bool_),
        "steps.id": np.arange(10),
    }
    predicted = ("▁L", "e", "▁ch", "at", "<eos>")
    labels = tuple(label for token in predicted for label in (token, "▁x"))
    given = {
        "source_tokens": source,
        "target_tokens": target,
        "predicted_tokens": predicted,
        "text": "Le chat",
        "arrays": arrays,
        "candidate_tokens": labels,
        "measured": {"cached_equals_full": 3e-7},
    }
    return Trace(**(given | changes))
