"""Payloads of the panel *Inside*, which the browser requests when a visitor opens it.

Of one head: the vectors from which the browser computes a cell (product of query and key, scale,
cap, bias, mask, softmax), the parts of its scores, and the head in a model without one of its
parts. Of one layer: the path of each query through it, from its embedding to the next token.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.components.payload import pack_payload
from explorer.core.score_formula import score_formula
from explorer.core.trace import Trace

if TYPE_CHECKING:  # with torch
    from explorer.model.huggingface.streams.layer_path import LayerPath

CANDIDATES = 5
"""Number of the most probable tokens that the browser shows with their logits."""

TEMPERATURES = [step / 10 for step in range(1, 21)]
"""Divisors of the logits before softmax, for a temperature other than 1."""

Parts = Mapping[str, NDArray[np.float64]]
"""By part, (position, width)."""


def head_vectors(trace: Trace, site: str, layer: int, head: int) -> bytes:
    """The vectors of one head of a trace with full capture, as a payload.

    layer: index among the layers of the trace.

    Arrays, float32: "queries" (query, width), "keys" and "values" (key, width), and "bias" (query,
    key), what the model adds to the scaled products, if it adds anything, and "sink" (query,), the
    weight that goes to no key. Header: "width", that of queries and keys, "scale", and "cap", the
    largest score, None without one.

    Raises `TraceError` if the trace has only weights.
    """
    queries, keys = trace.query_vectors(site)[layer, head], trace.key_vectors(site)[layer, head]
    formula = score_formula(trace, site, layer, head)
    arrays = {"queries": queries, "keys": keys, "values": trace.values(site)[layer, head]}
    if formula.bias is not None:
        arrays["bias"] = formula.bias
    if (sink := trace.arrays.get(f"{site}.sink")) is not None:
        arrays["sink"] = sink[layer, head]
    header = {"width": formula.width, "scale": formula.scale, "cap": formula.cap}
    return pack_payload(header, arrays)


def omission(trace: Trace, site: str, head: int) -> bytes:
    """One head in the first layer of a trace of a model without one of its parts.

    Arrays: "weights" float32 and "masked" uint8 codes, both (query, key). Header: labels of the
    "queries" and "keys", and the decoded "text".
    """
    arrays = {"weights": trace.attention(site)[0, head], "masked": trace.closed(site, 0, head)}
    header = {"queries": trace.queries(site), "keys": trace.keys(site), "text": trace.text}
    return pack_payload(header, arrays)


def early_layers(labels: Sequence[Sequence[Sequence[str]]], shares: NDArray[np.float32]) -> bytes:
    """The first tokens after each layer of the decoder, if it were the last.

    labels: by layer, query and rank. shares: their probabilities (layer, query, rank).

    Array: "early" float32, the probabilities. Header: "early" the labels, "counts" of queries.
    """
    header = {"early": labels, "counts": {"queries": shares.shape[1]}}
    return pack_payload(header, {"early": shares.astype(np.float32)})


def score_vectors(
    queries: Parts, keys: Parts, scale: float, distance: NDArray[np.float64] | None = None
) -> bytes:
    """The parts of the queries and keys of one head, whose products sum to the score of each cell.

    The browser multiplies each part of a query with each part of a key. The arguments are those of
    `PartVectors`.

    Arrays, float32: "queries" (part, query, width) and "keys" (part, key, width), and "distance"
    (query, key), if the model adds it. Header: the names "query_parts" and "key_parts", "width" and
    "scale".
    """
    arrays = {"queries": np.stack(list(queries.values())), "keys": np.stack(list(keys.values()))}
    if distance is not None:
        arrays["distance"] = distance
    header = {
        "query_parts": list(queries),
        "key_parts": list(keys),
        "width": arrays["queries"].shape[-1],
        "scale": scale,
    }
    numbers = {name: array.astype(np.float32) for name, array in arrays.items()}
    return pack_payload(header, numbers)


def token_path(trace: Trace, site: str) -> bytes:
    """Payload with the vectors of all queries of `site` on their way through the first layer of a
    trace with full capture.

    Arrays, float32 (query, width) but for the last two: "tokens" token embeddings × √D,
    "positions", "input" of the residual connection, "normed" what the sublayer reads, "heads" all
    outputs side by side, "projected" by W_O, "output" of the residual connection, "hidden" of the
    feed-forward network (query, d_ff), "forwarded" its output, "layer" the output of the layer,
    "stack" that of the last layer, after the last LayerNorm; of a decoder "logits" of the first
    candidates (query, candidate), "sums" (query,), ln of the sum of e to all logits, "tempered"
    (query, temperature), the sum of all probabilities to the power 1 / temperature, and "early"
    (query, rank), the probabilities of the first tokens if this layer were the last.

    Header: "candidates" and "early" tokens of a query, labels, "temperatures", "config" the sizes
    of the model, and "counts" of queries and keys.

    Raises `TraceError` if the trace has only weights.
    """
    stack = "encoder" if site == "encoder" else "decoder"
    heads = trace.head_output(site)[0].swapaxes(0, 1)  # (query, head, width)
    arrays = {
        "tokens": trace.arrays[f"{stack}.token_vectors"],
        "positions": trace.arrays[f"{stack}.embedding"] - trace.arrays[f"{stack}.token_vectors"],
        "input": trace.arrays[f"{site}.input"][0],
        "normed": trace.arrays[f"{site}.sublayer_input"][0],
        "heads": heads.reshape(len(heads), -1),
        "projected": trace.arrays[f"{site}.sublayer_output"][0],
        "output": trace.arrays[f"{site}.output"][0],
        "hidden": trace.arrays[f"{stack}.feed_forward_hidden"][0],
        "forwarded": trace.arrays[f"{stack}.feed_forward_output"][0],
        "layer": trace.arrays[f"{stack}.layer_output"][0],
        "stack": trace.arrays[f"{stack}.stack_output"],
    }
    header: dict[str, Any] = {
        "config": trace.facts["config"],
        "counts": {"queries": len(heads), "keys": trace.attention(site).shape[-1]},
        "candidates": [],
        "early": [],
        "temperatures": TEMPERATURES,
    }
    if stack == "decoder":
        logits = trace.arrays["logits"]
        sums = _log_sums(logits)
        header["candidates"], ids = _candidates(trace)
        header["early"] = trace.facts["early_tokens"][0]
        arrays |= {
            "logits": np.take_along_axis(logits, ids, 1),
            "sums": sums,
            "tempered": _tempered(logits - sums[:, None]),
            "early": trace.arrays["early.probability"][0],
        }
    return pack_payload(header, arrays)


def library_path(trace: Trace, site: str, path: "LayerPath") -> bytes:
    """The same of a model of the library, with the vectors that its family has.

    Without "hidden", temperatures and early predictions. Header: "config" has the numbers of heads
    and layers alone, "norm" is the name of the norm.
    """
    arrays = dict(path.vectors)
    header: dict[str, Any] = {
        "config": {
            "norm": "pre" if path.pre else "post",
            "heads": path.heads,
            **{f"{stack}_layers": path.layers.get(stack, 0) for stack in ("encoder", "decoder")},
        },
        "norm": path.norm,
        "counts": {"queries": len(arrays["input"]), "keys": trace.attention(site).shape[-1]},
        "candidates": [],
        "early": [],
        "temperatures": [],
    }
    if path.logits is not None:
        header["candidates"], ids = _candidates(trace)
        parts = []
        for first, end in path.logits.blocks():
            rows = path.logits.read(first, end)[0].float().numpy()
            parts.append((np.take_along_axis(rows, ids[first:end], 1), _log_sums(rows)))
        arrays["logits"], arrays["sums"] = map(np.concatenate, zip(*parts, strict=True))
    return pack_payload(header, arrays)


def _candidates(trace: Trace) -> tuple[list[list[str]], NDArray[np.int64]]:
    """Labels and ids (query, candidate) of the most probable tokens after each query."""
    first = trace.arrays["steps.rank"] <= CANDIDATES
    names = [label for label, kept in zip(trace.candidate_tokens, first, strict=True) if kept]
    count = len(trace.target_tokens)
    each = len(names) // count
    labels = [names[start : start + each] for start in range(0, len(names), each)]
    return labels, trace.arrays["steps.id"][first].reshape(count, each)


def _log_sums(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """ln Σ e^logit of each row (T, V)."""
    largest = logits.max(-1)
    sums: NDArray[np.float32] = np.log(np.exp(logits - largest[:, None]).sum(-1)) + largest
    return sums


def _tempered(logs: NDArray[np.float32]) -> NDArray[np.float32]:
    """(query, temperature) Σ p^(1 / temperature) over the vocabulary, from ln p (query, V)."""
    sums = [np.exp(logs / temperature).sum(-1) for temperature in TEMPERATURES]
    return np.stack(sums, axis=-1, dtype=np.float32)
