"""The way of all queries of an attention through its layer, in a model of the library."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from explorer.model.huggingface.streams.read_streams import ReadStack, ReadSublayer, ResidualPass
from explorer.model.row_logits import RowLogits


@dataclass(frozen=True, slots=True, eq=False)
class LayerPath:
    """Vectors (query, width) by name, as in `components.inside.payload.token_path`; those that a
    family has not are left out.

    norm: "LayerNorm" or "RMSNorm"; pre: whether it is before a sublayer.
    heads: of the attention; layers: of each stack.
    logits: of the pass, None in an encoder.
    """

    vectors: Mapping[str, NDArray[np.float32]]
    norm: str
    pre: bool
    heads: int
    layers: Mapping[str, int]
    logits: RowLogits | None


def layer_path(found: ResidualPass, site: str, layer: int) -> LayerPath:
    """layer: counted from 0 among the layers with attention at `site`."""
    stack = "encoder" if site == "encoder" else "decoder"
    read = found.stacks[stack]
    own, fed = (_sublayer(read, kind, layer) for kind in (site, "feed_forward"))
    attention = own.attention
    assert attention is not None
    heads = attention.call.output[0]  # (Q, H, width)
    vectors = {
        "input": own.inputs,
        "heads": heads.flatten(1),
        "projected": own.added,
        "output": own.after,
        "forwarded": fed.added,
        "layer": fed.after,
        "stack": read.output,
    }
    if own.pre:
        vectors["normed"] = own.norm.output
    vectors |= {f"{name}s": embedded for name, embedded in read.embedded.items()}
    return LayerPath(
        {name: _as_array(rows) for name, rows in vectors.items()},
        "LayerNorm" if isinstance(own.norm.module, nn.LayerNorm) else "RMSNorm",
        own.pre,
        heads.size(1),
        {name: _layers(one) for name, one in found.stacks.items()},
        found.logits if stack == "decoder" else None,
    )


def _layers(read: ReadStack) -> int:
    return sum(one.kind == "feed_forward" for one in read.sublayers)


def _sublayer(read: ReadStack, kind: str, layer: int) -> ReadSublayer:
    return next(one for one in read.sublayers if (one.kind, one.layer) == (kind, layer))


def _as_array(rows: Tensor) -> NDArray[np.float32]:
    return rows.detach().float().cpu().numpy()
