"""A model whose sublayers are silenced: each adds 0 to the residual stream.

So every head reads embeddings alone, as if it were the only one.
"""

import torch
from torch import Tensor

from explorer.core.vocabulary import BOS, EOS
from explorer.model.hooks import capture, edit, path
from explorer.model.transformer import Transformer

_TOGETHER = 1024  # rows of a pass


@torch.inference_mode()
def captured_alone(model: Transformer, site: str, keys: Tensor, hook: str) -> list[Tensor]:
    """By layer, what a hook point of the attentions of `site` has, with all sublayers silenced.

    keys: (N, L) ids of the tokens whose positions are the keys of `site`.
    """
    parts: list[list[Tensor]] = []
    layers = [path(site, layer, hook) for layer in range(model.config.layers(site))]
    for start in range(0, len(keys), _TOGETHER):
        some = keys[start : start + _TOGETHER].to(model.device)
        source, target = some, torch.full_like(some[:, :1], BOS)
        if site == "decoder":
            source, target = torch.full_like(some[:, :1], EOS), some
        if model.config.decoder_only:
            source = source[:, :0]
        with edit(model, {"*.sublayer_output": torch.zeros_like}), capture(model, *layers) as found:
            model.hidden(source, target)
        parts.append([found[name] for name in layers])
    return [torch.cat(layer) for layer in zip(*parts, strict=True)]
