"""Names of the weights in the Transformer classes of tutorials, and how those differ from ours.

Each rule is a regular expression for a part of a name, and its replacement here. Query, key, value
and output of attention are separate here. The classes themselves are not needed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from explorer.model.config import NORM_EPS


@dataclass(frozen=True, slots=True)
class Layout:
    """The names and the arithmetic of one class.

    rules: applied to a name one after the other.
    norm: LayerNorm before or after each sublayer.
    scaled: whether token embeddings are multiplied by √D.
    own_norm: whether LayerNorm divides by the unbiased standard deviation plus `norm_eps`, as in
        The Annotated Transformer, instead of by the root of (variance + `norm_eps`).
    norm_eps: the value in the code of the class.
    """

    rules: tuple[tuple[str, str], ...]
    norm: Literal["pre", "post"]
    scaled: bool
    own_norm: bool = False
    norm_eps: float = NORM_EPS

    def renamed(self, name: str) -> str:
        """Our name of a weight of the class; unchanged if no rule matches."""
        for pattern, replacement in self.rules:
            name = re.sub(pattern, replacement, name)
        return name


_ENCODER, _DECODER = r"^(encoder\.layers\.\d+)\.", r"^(decoder\.layers\.\d+)\."


def _around(pattern: str, first: int) -> tuple[tuple[str, str], ...]:
    """Rules for the norms of a layer, numbered from `first`; pattern: with {} for the number."""
    sublayers: Mapping[str, tuple[str, ...]] = {
        _ENCODER: ("self_attention", "feed_forward"),
        _DECODER: ("self_attention", "cross_attention", "feed_forward"),
    }
    return tuple(
        (stack + pattern.format(number), rf"\1.around_{sublayer}.")
        for stack, names in sublayers.items()
        for number, sublayer in enumerate(names, start=first)
    )


_PROJECTIONS = (
    (r"\.W_q\.", ".query."),
    (r"\.W_k\.", ".key."),
    (r"\.W_v\.", ".value."),
    (r"\.W_o\.", ".output."),
)

LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {
        "annotated": Layout(
            (
                (r"^src_embed\.0\.lut\.", "encoder.embedding.tokens."),
                (r"^tgt_embed\.0\.lut\.", "decoder.embedding.tokens."),
                (r"^src_embed\.1\.pe$", "encoder.positions"),
                (r"^tgt_embed\.1\.pe$", "decoder.positions"),
                (r"^generator\.proj\.", "logits."),
                (r"\.a_2$", ".weight"),
                (r"\.b_2$", ".bias"),
                *_around(r"sublayer\.{}\.norm\.", first=0),
                (r"\.self_attn\.", ".self_attention."),
                (r"\.src_attn\.", ".cross_attention."),
                (r"\.linears\.0\.", ".query."),
                (r"\.linears\.1\.", ".key."),
                (r"\.linears\.2\.", ".value."),
                (r"\.linears\.3\.", ".output."),
                (r"\.feed_forward\.w_1\.", ".feed_forward.expand."),
                (r"\.feed_forward\.w_2\.", ".feed_forward.contract."),
            ),
            norm="pre",
            scaled=True,
            own_norm=True,
            norm_eps=1e-6,
        ),
        "w_q": Layout(
            (
                (r"^(encoder|decoder)_embedding\.", r"\1.embedding.tokens."),
                (r"^(encoder|decoder)_layers\.", r"\1.layers."),
                (r"^positional_encoding\.pe$", "encoder.positions"),
                (r"^fc\.", "logits."),
                *_around(r"norm{}\.", first=1),
                (r"\.self_attn\.", ".self_attention."),
                (r"\.cross_attn\.", ".cross_attention."),
                *_PROJECTIONS,
                (r"\.feed_forward\.fc1\.", ".feed_forward.expand."),
                (r"\.feed_forward\.fc2\.", ".feed_forward.contract."),
            ),
            norm="post",
            scaled=False,
        ),
        "d2l": Layout(
            (
                (r"^(encoder|decoder)\.embedding\.", r"\1.embedding.tokens."),
                (r"^(encoder|decoder)\.blks\.(?:block)?(\d+)\.", r"\1.layers.\2."),
                (r"^decoder\.dense\.", "logits."),
                *_around(r"addnorm{}\.(?:ln|norm)\.", first=1),
                (r"\.attention1?\.", ".self_attention."),
                (r"\.attention2\.", ".cross_attention."),
                *_PROJECTIONS,
                (r"\.ffn\.dense1\.", ".feed_forward.expand."),
                (r"\.ffn\.dense2\.", ".feed_forward.contract."),
            ),
            norm="post",
            scaled=True,
        ),
    }
)
