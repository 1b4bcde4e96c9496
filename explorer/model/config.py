"""The sizes of a Transformer and its heads, known and checked without building one."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from explorer.core.errors import ConfigError
from explorer.core.sites import SITES, Head

LARGEST_MODEL = 500_000_000
"""Parameters. No file can make the server allocate more."""

NORM_EPS = 1e-5
"""Default of torch, and the value of all models trained here."""

_SIZES = {  # field → least and most
    "source_vocabulary": (4, 1_000_000),
    "target_vocabulary": (4, 1_000_000),
    "d_model": (1, 8192),
    "heads": (1, 128),
    "encoder_layers": (0, 64),
    "decoder_layers": (1, 64),
    "d_ff": (1, 65_536),
    "max_length": (2, 8192),
}


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The sizes of a Transformer. Raises `ConfigError` on sizes that do not fit together."""

    source_vocabulary: int  # entries, the three specials included
    target_vocabulary: int
    d_model: int = 128
    heads: int = 4
    encoder_layers: int = 2  # 0: a decoder alone, which has one vocabulary and no cross-attention
    decoder_layers: int = 2
    d_ff: int = 512
    dropout: float = 0.1
    norm: Literal["pre", "post"] = "pre"  # LayerNorm before or, as in §5.4, after each sublayer
    max_length: int = 32  # tokens on either side, specials included
    tied_embeddings: bool = False  # source, target and output share one matrix (§3.4)
    causal: bool = True  # False lets target positions attend to the answer: shows a leak
    norm_eps: float = NORM_EPS  # what LayerNorm adds to the variance

    def __post_init__(self) -> None:
        for name, (least, most) in _SIZES.items():
            size = getattr(self, name)
            if type(size) is not int or not least <= size <= most:
                raise ConfigError("bad_size", name=name, got=repr(size), least=least, most=most)
        if self.d_model % self.heads:
            raise ConfigError("not_divisible", d_model=self.d_model, heads=self.heads)
        if self.d_model % 2:
            raise ConfigError("odd_width", d_model=self.d_model)
        if type(self.dropout) not in (int, float) or not 0 <= self.dropout < 1:
            raise ConfigError(
                "bad_number", name="dropout", got=repr(self.dropout), least=0, most=0.99
            )
        if type(self.norm_eps) is not float or not 0 < self.norm_eps < 1:
            raise ConfigError(
                "bad_number", name="norm_eps", got=repr(self.norm_eps), least=1e-12, most=0.99
            )
        if not isinstance(self.norm, str) or self.norm not in ("pre", "post"):
            raise ConfigError("bad_choice", name="norm", got=self.norm, choices="pre, post")
        for name in ("tied_embeddings", "causal"):
            if type(got := getattr(self, name)) is not bool:
                raise ConfigError("bad_choice", name=name, got=got, choices="true, false")
        one_vocabulary = self.tied_embeddings or self.decoder_only
        if one_vocabulary and self.source_vocabulary != self.target_vocabulary:
            raise ConfigError(
                "tied_sizes", source=self.source_vocabulary, target=self.target_vocabulary
            )
        if self.parameters > LARGEST_MODEL:
            millions, limit = self.parameters // 10**6, LARGEST_MODEL // 10**6
            raise ConfigError("too_many_parameters", parameters=millions, limit=limit)

    @property
    def decoder_only(self) -> bool:
        """Whether it has no encoder: it then continues a text."""
        return self.encoder_layers == 0

    @property
    def head_width(self) -> int:
        return self.d_model // self.heads

    def layers(self, site: str) -> int:
        """Number of layers that have attention at `site`."""
        if site == "encoder":
            return self.encoder_layers
        return 0 if site == "cross" and self.decoder_only else self.decoder_layers

    @property
    def attentions(self) -> list[tuple[str, int]]:
        """(site, layer) of every attention module, in the order of all tables of heads."""
        return [(site, layer) for site in SITES for layer in range(self.layers(site))]

    @property
    def all_heads(self) -> tuple[Head, ...]:
        """Every head, in the order of all tables of heads."""
        return tuple(Head(*place, head) for place in self.attentions for head in range(self.heads))

    @property
    def parameters(self) -> int:
        """Number of trained parameters."""
        d, ff = self.d_model, self.d_ff
        attention, feed_forward, norm = 4 * (d * d + d), 2 * d * ff + ff + d, 2 * d
        attentions, stacks = len(self.attentions), 1 if self.decoder_only else 2
        layers = self.encoder_layers + self.decoder_layers
        sublayers = attentions * (attention + norm) + layers * (feed_forward + norm)
        final_norms = stacks * norm if self.norm == "pre" else 0
        rows = 2 * self.target_vocabulary  # of its embedding and of the map to logits
        if self.tied_embeddings:
            rows = self.target_vocabulary
        elif not self.decoder_only:
            rows += self.source_vocabulary
        bias = 0 if self.decoder_only else self.target_vocabulary
        return sublayers + final_norms + rows * d + bias

    def to_json(self) -> dict[str, Any]:
        """The fields that a checkpoint stores. `norm_eps` is left out at its default, because older
        versions of the explorer do not know the field."""
        sizes = asdict(self)
        if self.norm_eps == NORM_EPS:
            del sizes["norm_eps"]
        return sizes

    @classmethod
    def from_json(cls, data: dict[str, object]) -> "ModelConfig":
        """The config that a checkpoint stores. Raises `ConfigError` on an unknown field."""
        names = [field.name for field in fields(cls)]
        for name in data:
            if name not in names:
                raise ConfigError("bad_choice", name="config", got=name, choices=", ".join(names))
        for name in ("source_vocabulary", "target_vocabulary"):
            if name not in data:
                raise ConfigError("bad_size", name=name, got="missing", least=4, most=1_000_000)
        return cls(**data)  # type: ignore[arg-type]  # __post_init__ checks each type
