"""The path of each query through one layer, from its embedding to the next token, as a payload.

The vectors of a layer around its heads; those inside a head are in `head_vectors.py`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components.shared.payload import pack_payload
from explorer.core.trace import Trace

CANDIDATES = 5
"""Number of the most probable tokens that the browser shows with their logits."""

TEMPERATURES = [step / 10 for step in range(1, 21)]
"""Divisors of the logits before softmax, for a temperature other than 1."""


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
        sums = _log_sums(trace.arrays["logits"])
        header["candidates"], logits = _candidates(trace)
        header["early"] = trace.facts["early_tokens"][0]
        arrays |= {
            "logits": logits,
            "sums": sums,
            "tempered": _tempered(trace.arrays["logits"] - sums[:, None]),
            "early": trace.arrays["early.probability"][0],
        }
    return pack_payload(header, arrays)


def _candidates(trace: Trace) -> tuple[list[list[str]], NDArray[np.float32]]:
    """Labels and logits (query, candidate) of the most probable tokens after each query."""
    first = trace.arrays["steps.rank"] <= CANDIDATES
    steps, ids = trace.arrays["steps.step"][first], trace.arrays["steps.id"][first]
    names = [label for label, kept in zip(trace.candidate_tokens, first, strict=True) if kept]
    logits = trace.arrays["logits"][steps - 1, ids]
    count = len(trace.target_tokens)
    each = len(names) // count
    labels = [names[start : start + each] for start in range(0, len(names), each)]
    return labels, logits.reshape(count, each)


def _log_sums(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """ln Σ e^logit of each row (T, V)."""
    largest = logits.max(-1)
    sums: NDArray[np.float32] = np.log(np.exp(logits - largest[:, None]).sum(-1)) + largest
    return sums


def _tempered(logs: NDArray[np.float32]) -> NDArray[np.float32]:
    """(query, temperature) Σ p^(1 / temperature) over the vocabulary, from ln p (query, V)."""
    sums = [np.exp(logs / temperature).sum(-1) for temperature in TEMPERATURES]
    return np.stack(sums, axis=-1, dtype=np.float32)
