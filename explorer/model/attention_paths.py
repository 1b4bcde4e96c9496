"""Where the heads of a Transformer are: its attentions by site and layer."""

from explorer.core.sites import Head
from explorer.model.config import ModelConfig

MODULES = {
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
    "cross": "decoder.layers.{}.cross_attention",
}


def path(site: str, layer: int, hook: str) -> str:
    """The path of a hook point: path("cross", 1, "pattern")."""
    return f"{MODULES[site].format(layer)}.{hook}"


def layers(config: ModelConfig, site: str) -> int:
    """How many layers have this site."""
    return config.encoder_layers if site == "encoder" else config.decoder_layers


def attentions(config: ModelConfig) -> list[tuple[str, int]]:
    """(site, layer) of every attention, in the order of every table of heads."""
    return [(site, layer) for site in MODULES for layer in range(layers(config, site))]


def all_heads(config: ModelConfig) -> list[Head]:
    """Every head, in the order of every table of heads."""
    return [
        Head(site, layer, head)
        for site, layer in attentions(config)
        for head in range(config.heads)
    ]
