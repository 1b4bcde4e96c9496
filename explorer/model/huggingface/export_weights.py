"""The weights of a Transformer trained here under the names of the library.

Marian and Pegasus add sines and cosines to the embeddings, too. Here they alternate along the
width; there all sines come before all cosines. So the width of the exported model is permuted: the
features between layers have another order, and so does every matrix that reads or writes them.
OPT, for a decoder alone, has a table of positions, and the width stays as it is.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from explorer.model.config import ModelConfig
from explorer.model.transformer import Transformer

_MODULES = {  # here → there, in a layer
    "self_attention": "self_attn",
    "cross_attention": "encoder_attn",
    "feed_forward.expand": "fc1",
    "feed_forward.contract": "fc2",
    "around_self_attention": "self_attn_layer_norm",
    "around_cross_attention": "encoder_attn_layer_norm",
    "around_feed_forward": "final_layer_norm",
}


_OPT_OFFSET = 2  # rows of its table before that of the first position


def library_weights(model: Transformer) -> dict[str, Tensor]:
    """Name → weight for the library's Marian (post-norm), Pegasus (pre-norm) or OPT (a decoder
    alone)."""
    order = _order(model.config)
    weights = dict(_of_opt(model) if model.encoder is None else _embeddings(model, order))
    for name, module in model.named_modules():
        if ".layers." not in name or not isinstance(module, nn.Linear | nn.LayerNorm):
            continue
        stack, _, number, inside = name.split(".", 3)
        for own, tensor in _parts(inside, module, order):
            weights[f"model.{stack}.layers.{number}.{own}"] = tensor
    last = "layer_norm" if model.encoder else "final_layer_norm"
    for stack, norm in _final_norms(model):
        weights[f"model.{stack}.{last}.weight"] = norm.weight[order]
        weights[f"model.{stack}.{last}.bias"] = norm.bias[order]
    return {name: tensor.detach().clone().contiguous() for name, tensor in weights.items()}


def _order(config: ModelConfig) -> Tensor:
    """Order of the features: first those with a sine, then those with a cosine; as they are for a
    decoder alone."""
    features = torch.arange(config.d_model)
    return features if config.decoder_only else torch.cat([features[::2], features[1::2]])


def _final_norms(model: Transformer) -> Iterator[tuple[str, nn.LayerNorm]]:
    """The LayerNorm after each stack, with pre-norm."""
    for stack, module in (("encoder", model.encoder), ("decoder", model.decoder)):
        if module is not None and isinstance(module.norm, nn.LayerNorm):
            yield stack, module.norm


def _of_opt(model: Transformer) -> Iterator[tuple[str, Tensor]]:
    """Embeddings, positions and the map to logits of a decoder alone."""
    embedding = model.decoder.embedding
    unused = torch.zeros(_OPT_OFFSET, model.config.d_model)
    yield "model.decoder.embed_tokens.weight", embedding.tokens.weight * embedding.scale
    yield "model.decoder.embed_positions.weight", torch.cat([unused, embedding.positions.cpu()])
    yield "lm_head.weight", model.logits.weight


def _embeddings(model: Transformer, order: Tensor) -> Iterator[tuple[str, Tensor]]:
    assert model.encoder is not None
    source, target = (stack.embedding.tokens.weight for stack in (model.encoder, model.decoder))
    # Where the three are tied, the library ties them again.
    yield (
        "model.shared.weight",
        target[:, order] if model.config.tied_embeddings else source[:, order],
    )
    yield "model.encoder.embed_tokens.weight", source[:, order]
    yield "model.decoder.embed_tokens.weight", target[:, order]
    yield "lm_head.weight", model.logits.weight[:, order]
    yield "final_logits_bias", model.logits.bias[None]


def _parts(
    inside: str, module: nn.Linear | nn.LayerNorm, order: Tensor
) -> Iterator[tuple[str, Tensor]]:
    """The weights of one module of a layer; our joint matrix of queries, keys and values is split.

    inside: its path in the layer.
    """
    weight, bias = module.weight, module.bias
    if isinstance(module, nn.LayerNorm):
        yield f"{_MODULES[inside]}.weight", weight[order]
        yield f"{_MODULES[inside]}.bias", bias[order]
        return
    if inside in _MODULES:
        target = _MODULES[inside]
        reads = target == "fc1"
        yield f"{target}.weight", weight[:, order] if reads else weight[order]
        yield f"{target}.bias", bias if reads else bias[order]
        return
    attention, part = inside.split(".")
    target = _MODULES[attention]
    if part == "output":
        yield f"{target}.out_proj.weight", weight[order]
        yield f"{target}.out_proj.bias", bias[order]
        return
    letters = {"query_key_value": "qkv", "query": "q", "key_value": "kv"}[part]
    pairs = zip(weight.chunk(len(letters)), bias.chunk(len(letters)), strict=True)
    for letter, (of_weight, of_bias) in zip(letters, pairs, strict=True):
        yield f"{target}.{letter}_proj.weight", of_weight[:, order]
        yield f"{target}.{letter}_proj.bias", of_bias
