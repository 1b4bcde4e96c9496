"""Checkpoint from the state dict of a tutorial's own Transformer class."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from torch import Tensor

from explorer.core.errors import CheckpointError
from explorer.core.files import printable, read_bytes
from explorer.core.vocabulary import LONGEST_SYMBOL, SPECIALS, SymbolVocabulary
from explorer.model.checkpoint import Checkpoint, built
from explorer.model.checkpoint_header import LARGEST_HEADER, refuse_gpt2, refuse_large
from explorer.model.config import ModelConfig
from explorer.model.foreign_layouts import LAYOUTS, Layout
from explorer.model.state_dict import checked_weights, read_weights
from explorer.model.transformer import sinusoids
from explorer.model.wrapped_names import bare

Weights = dict[str, Tensor]
Tokens = Sequence[str] | Mapping[str, int] | str | Path

_EMBEDDINGS = ("encoder.embedding.tokens.weight", "decoder.embedding.tokens.weight")
_POSITIONS = ("encoder.positions", "decoder.positions")
_JOINED = (  # stack, attention, our linear map ← their maps, joined in this order
    ("encoder", "self_attention", "query_key_value", ("query", "key", "value")),
    ("encoder", "self_attention", "output", ("output",)),
    ("decoder", "self_attention", "query_key_value", ("query", "key", "value")),
    ("decoder", "self_attention", "output", ("output",)),
    ("decoder", "cross_attention", "query", ("query",)),
    ("decoder", "cross_attention", "key_value", ("key", "value")),
    ("decoder", "cross_attention", "output", ("output",)),
)
_KNOWN = re.compile(
    r"(encoder|decoder)\.(embedding\.tokens\.weight|positions|norm\.(weight|bias))"
    r"|logits\.(weight|bias)"
    r"|(encoder|decoder)\.layers\.\d+\.((self|cross)_attention\.(query|key|value|output)"
    r"|feed_forward\.(expand|contract)|around_\w+)\.(weight|bias)"
)
_LARGEST_POSITION_ERROR = 1e-4
_KEPT = 8
"""Characters kept of a token that cannot be a symbol; "…" and its id follow."""


def from_foreign_state_dict(
    theirs: Path | Mapping[str, Tensor],
    layout: str,
    *,
    heads: int | None,
    specials: Sequence[int] | None,
    vocabulary: Tokens | None = None,
    target_vocabulary: Tokens | None = None,
    max_length: int = 256,
    norm_eps: float | None = None,
) -> Checkpoint:
    """The checkpoint for `explorer.import_state_dict`; same arguments and errors."""
    name = printable(theirs.name) if isinstance(theirs, Path) else "state_dict"
    if layout not in LAYOUTS:
        raise CheckpointError("import_layout", got=str(layout), known=", ".join(LAYOUTS))
    if heads is None:
        raise CheckpointError("import_needs", name=name, what="heads")
    if specials is None:
        raise CheckpointError("import_needs", name=name, what="specials")
    own = LAYOUTS[layout]
    read = _read(theirs, name) if isinstance(theirs, Path) else checked_weights(theirs)
    named = _named(read, own, name)
    config = _config(named, own, heads, max_length, norm_eps, name)
    source, target = (_order(len(named[one]), specials) for one in _EMBEDDINGS)
    if target_vocabulary is None:
        target_vocabulary = vocabulary
    vocabularies = (
        _vocabulary(vocabulary, source, with_start=True),
        _vocabulary(target_vocabulary, target, with_start=False),
    )
    _check_positions(named, config, name)
    weights = _assembled(named, config, name)
    _reorder(weights, source, target)
    _rescale(weights, own, config.d_model)
    try:
        model = built(config, weights, name)
    except CheckpointError as error:
        if error.key != "mismatched_weights":
            raise
        raise CheckpointError("import_missing", name=name, weight=error.facts["weight"]) from error
    return Checkpoint(model, *vocabularies, {"imported": layout})


def _read(path: Path, name: str) -> Weights:
    """The weights in a torch file, or in a safetensors file."""
    if path.suffix != ".safetensors":
        return read_weights(path, name)
    data = read_bytes(path)
    refuse_gpt2(data[:LARGEST_HEADER], name)
    refuse_large(len(data), name)
    try:
        return {key: weight.float() for key, weight in bare(load_tensors(data)).items()}
    except (SafetensorError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise CheckpointError("damaged_checkpoint", name=name) from error


def _named(theirs: Weights, own: Layout, name: str) -> Weights:
    """The weights by our names. Raises `CheckpointError` on a weight that we do not have."""
    named: Weights = {}
    for key, weight in theirs.items():
        renamed = own.renamed(key)
        if not _KNOWN.fullmatch(renamed) or renamed in named:
            raise CheckpointError("import_unknown", name=name, weight=key)
        named[renamed] = weight
    return named


def _config(
    named: Weights, own: Layout, heads: int, max_length: int, norm_eps: float | None, name: str
) -> ModelConfig:
    """The sizes, from the shapes."""
    source, target = (_matrix(named, key, name) for key in _EMBEDDINGS)
    expand = _matrix(named, "encoder.layers.0.feed_forward.expand.weight", name)
    eps = own.norm_eps if norm_eps is None else norm_eps
    return ModelConfig(
        source_vocabulary=len(source) + 1,  # 1 for the start, which is a symbol here
        target_vocabulary=len(target),
        d_model=int(source.size(1)),
        heads=heads,
        encoder_layers=_layers(named, "encoder"),
        decoder_layers=_layers(named, "decoder"),
        d_ff=len(expand),
        norm=own.norm,
        max_length=max_length,
        # √(v + 2ε) is √v + ε where the deviation √v is 1, and close to it elsewhere.
        norm_eps=2 * eps if own.own_norm else eps,
    )


def _matrix(named: Weights, key: str, name: str) -> Tensor:
    """A weight with two axes. Raises `CheckpointError` if it is missing or has another shape."""
    if key not in named or named[key].dim() != 2:
        raise CheckpointError("import_missing", name=name, weight=key)
    return named[key]


def _layers(named: Weights, stack: str) -> int:
    found = [re.match(rf"{stack}\.layers\.(\d+)\.", key) for key in named]
    return max((int(one[1]) + 1 for one in found if one), default=0)


def _assembled(named: Weights, config: ModelConfig, name: str) -> Weights:
    """Our weights. Projections that we compute together are joined, and a missing bias is 0.

    Raises `CheckpointError` if a weight is missing.
    """
    weights = {
        key: weight
        for key, weight in named.items()
        if key not in _POSITIONS and not re.search(r"\.(self|cross)_attention\.", key)
    }
    layers = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    maps = {
        f"{stack}.layers.{layer}.{site}.{ours}": [
            f"{stack}.layers.{layer}.{site}.{part}" for part in parts
        ]
        for stack, site, ours, parts in _JOINED
        for layer in range(layers[stack])
    }
    for stack, count in layers.items():
        for layer in range(count):
            feed_forward = f"{stack}.layers.{layer}.feed_forward"
            maps |= {one: [one] for one in (f"{feed_forward}.expand", f"{feed_forward}.contract")}
    for ours, parts in (maps | {"logits": ["logits"]}).items():
        linear = [_linear(named, part, name) for part in parts]
        weights[f"{ours}.weight"] = torch.cat([weight for weight, _ in linear])
        weights[f"{ours}.bias"] = torch.cat([bias for _, bias in linear])
    return weights


def _linear(named: Weights, key: str, name: str) -> tuple[Tensor, Tensor]:
    """The weight and the bias of a linear map."""
    weight = _matrix(named, f"{key}.weight", name)
    bias = named.get(f"{key}.bias", weight.new_zeros(len(weight)))
    square = "_attention." not in key or weight.size(0) == weight.size(1)
    if bias.shape != weight.shape[:1] or not square:
        raise CheckpointError("import_missing", name=name, weight=f"{key}.weight")
    return weight, bias


def _check_positions(named: Weights, config: ModelConfig, name: str) -> None:
    """Raise `CheckpointError` on stored positions that are not those of the paper."""
    for key in _POSITIONS:
        if key in named:
            stored = named[key].reshape(-1, config.d_model)[: config.max_length]
            expected = sinusoids(len(stored), config.d_model)
            if not bool(((stored - expected).abs() <= _LARGEST_POSITION_ERROR).all()):
                raise CheckpointError("import_positions", name=name, weight=key)


def _order(size: int, specials: Sequence[int]) -> list[int]:
    """Their ids in our order: padding, start, end, then the others."""
    given = list(specials) if isinstance(specials, Sequence) else [specials]
    known = len(given) == len(set(given)) == len(SPECIALS)
    if not known or not all(type(one) is int and 0 <= one < size for one in given):
        raise CheckpointError("import_specials", got=str(specials), last=size - 1)
    return [*given, *(one for one in range(size) if one not in given)]


def _vocabulary(
    tokens: Tokens | None, order: Sequence[int], *, with_start: bool
) -> SymbolVocabulary:
    """Symbols in our order. with_start: include the start, so that a source can begin with it."""
    size = len(order)
    labels = list(map(str, range(size))) if tokens is None else _listed(tokens, size)
    used = [*order[len(SPECIALS) :], *([order[1]] if with_start else [])]
    taken = set(SPECIALS)
    symbols = []
    for number in used:
        label = labels[number]
        if label in SPECIALS and number == order[1]:
            label = f"[{label[1:-1]}]"
        if label in taken or not 0 < len(label) <= LONGEST_SYMBOL or label.split() != [label]:
            label = f"{''.join(label.split())[:_KEPT]}…{number}"
        taken.add(label)
        symbols.append(label)
    return SymbolVocabulary(tuple(symbols))


def _listed(tokens: Tokens, size: int) -> list[str]:
    """The token of each id. Raises `CheckpointError` unless there are `size` distinct tokens."""
    if isinstance(tokens, str | Path):
        text = read_bytes(Path(tokens)).decode("utf-8", errors="replace")
        listed = [line.rstrip() for line in text.splitlines()]
    elif isinstance(tokens, Mapping):
        listed = sorted(tokens, key=tokens.__getitem__)
    else:
        listed = [str(token) for token in tokens]
    if len(listed) != size:
        raise CheckpointError("import_tokens", got=len(listed), expected=size)
    first: dict[str, int] = {}
    for number, token in enumerate(listed):
        if first.setdefault(token, number) != number:
            ids = f"{first[token]}, {number}"
            raise CheckpointError("import_repeated", token=token, ids=ids)
    return listed


def _reorder(weights: Weights, source: Sequence[int], target: Sequence[int]) -> None:
    """Put the rows of tokens into our order. The source gets the start again as its last row."""
    orders = dict(zip(_EMBEDDINGS, ([*source, source[1]], target), strict=True))
    for key, order in (orders | {"logits.weight": target, "logits.bias": target}).items():
        if max(order) < len(weights[key]):  # else its shape is refused
            weights[key] = weights[key][list(order)]


def _rescale(weights: Weights, own: Layout, width: int) -> None:
    """Scale embeddings and norm weights for the factors in which their code and ours differ."""
    for key, weight in weights.items():
        if key in _EMBEDDINGS and not own.scaled:
            weights[key] = weight / math.sqrt(width)
        if own.own_norm and re.search(r"(around_\w+|coder\.norm)\.weight$", key):
            # The unbiased deviation is larger than that of our LayerNorm.
            weights[key] = weight * math.sqrt((width - 1) / width)
