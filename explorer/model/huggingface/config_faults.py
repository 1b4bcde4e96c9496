"""Errors in a config.json of a known family from which no model can be built."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from explorer.core.errors import ModelDirectoryError
from explorer.core.vocabulary import shorten

_SIZES = (
    *("hidden_size", "d_model", "n_embd", "dim", "head_dim", "d_kv", "vocab_size"),
    *("num_hidden_layers", "num_layers", "n_layer", "n_layers", "num_decoder_layers"),
    *("encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads"),
    *("num_attention_heads", "num_heads", "n_head", "n_heads", "num_key_value_heads"),
    *("intermediate_size", "d_ff", "encoder_ffn_dim", "decoder_ffn_dim", "type_vocab_size"),
    *("max_position_embeddings", "n_positions"),
)
_MAY_BE_ZERO = "type_vocab_size"
_EXPECTED = re.compile(r"expected (\w+), got")
_JSON_NAMES = {"NoneType": "null", "bool": "true, false"}


def config_fault(name: str, described: Mapping[str, Any], error: Exception) -> ModelDirectoryError:
    """Error for a config of a known family that the library cannot read.

    described: config.json. error: from the library, which checks the types of values.
    """
    cause = error.__cause__ or error
    field = re.match(r"Field '(\w+)'", str(cause))
    expected = dict.fromkeys(_EXPECTED.findall(str(cause)))
    if field and expected:
        names = " | ".join(_JSON_NAMES.get(one, one) for one in expected)
        value = described.get(field[1])
        return _wrong_value(name, field[1], value, names)
    return _wrong_config(name, described, cause)


def size_fault(name: str, described: Mapping[str, Any]) -> ModelDirectoryError | None:
    """Error for an impossible size in a config, such as −1 layers, or None if all are possible.

    Call this only for a model that cannot be opened: in some families 0 has a meaning.
    """
    for field, value in _sizes(described):
        least = 0 if field == _MAY_BE_ZERO else 1
        if value < least:
            return _wrong_value(name, field, value, f"≥ {least}")
    return None


def build_fault(
    name: str, described: Mapping[str, Any], model_class: Any, config: Any
) -> ModelDirectoryError | None:
    """Error for a config from which no model can be built, whatever its weights, or None."""
    try:
        with torch.device("meta"):
            model_class(config)
    except ModelDirectoryError:
        return None
    except Exception as error:
        return _wrong_config(name, described, error)
    return None


def _sizes(described: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The sizes of a config and its parts, such as a text config."""
    for field, value in described.items():
        if field in _SIZES and type(value) is int:
            yield field, value
        elif isinstance(value, Mapping):
            yield from _sizes(value)


def _wrong_value(name: str, field: str, value: Any, expected: str) -> ModelDirectoryError:
    got = shorten(json.dumps(value, ensure_ascii=False))
    return ModelDirectoryError("wrong_value", name=name, field=field, got=got, expected=expected)


def _wrong_config(
    name: str, described: Mapping[str, Any], error: BaseException
) -> ModelDirectoryError:
    """Error with the library's message; if that is an unknown name, also with its field."""
    reason = str(error).strip().split("\n")[0]
    fields = [field for field, value in described.items() if repr(value) == reason]
    reason = ": ".join([*fields[:1], reason or type(error).__name__])[:160]
    family = str(described["model_type"])[:80]
    return ModelDirectoryError("wrong_config", name=name, family=family, reason=reason)
