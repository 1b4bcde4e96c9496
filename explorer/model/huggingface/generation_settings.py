"""Settings for decoding in the configs of a model: start, ends, tokens that are never chosen."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.decoding import DecodingRules

_NEUTRAL = {  # settings of the library's `generate` → values with which they have no effect
    "num_beams": (None, 1),
    "do_sample": (None, False),
    "repetition_penalty": (None, 1.0),
    "no_repeat_ngram_size": (None, 0),
    "encoder_no_repeat_ngram_size": (None, 0),
    "min_length": (None, 0),
    "min_new_tokens": (None, 0),
    "length_penalty": (None, 1.0),
}


@dataclass(frozen=True)
class GenerationSettings:
    """The settings of one model: its generation config first, then its config.

    size: number of embeddings.
    languages: ids of tokens that name the language of a text.
    language: id of the output language that a caller chose; None = the one of the configs.
    """

    model: Any
    size: int
    languages: frozenset[int] = frozenset()
    language: int | None = None

    @property
    def start(self) -> int:
        """The first id of the decoder in an encoder–decoder model.

        It is the chosen language if the configs name a language there, as mBART's for one pair of
        languages do.
        """
        own = self._own_start
        return own if self.language is None or own not in self.languages else self.language

    @property
    def _own_start(self) -> int:
        for found in (
            self._generation("decoder_start_token_id"),
            self._config("decoder_start_token_id"),
            self._generation("bos_token_id"),
            self._config("bos_token_id"),
        ):
            if self._is_id(found):
                return int(found)
        return 0

    @property
    def first(self) -> int | None:
        """The id that must follow the start, such as a language; None = any."""
        if self.language is not None and self._own_start not in self.languages:
            return self.language
        found = self._generation("forced_bos_token_id")
        return found if self._is_id(found) else None

    @cached_property
    def ends(self) -> frozenset[int]:
        """The ids after which decoding stops."""
        found = self._generation("eos_token_id")
        found = self._config("eos_token_id") if found is None else found
        listed = found if isinstance(found, list | tuple) else [found]
        return frozenset(number for number in listed if self._is_id(number))

    @property
    def special(self) -> frozenset[int]:
        """The ids that the configs name, such as the beginning, the end and padding."""
        names = [f"{name}_token_id" for name in ("bos", "eos", "pad", "cls", "sep")]
        found = [*map(self._config, names), self.start, self.first]
        return frozenset(number for number in found if self._is_id(number)) | self.ends

    def padding(self, own: int | None) -> int:
        """The id of padding: the tokenizer's `own`, else the config's; 0 if neither is an id of the
        model."""
        for found in (own, self._config("pad_token_id")):
            if found is not None and self._is_id(found):
                return int(found)
        return 0

    def with_first(self, ids: list[int]) -> list[int]:
        """The ids of an output, preceded by `first` if there is one."""
        return ids if self.first is None or ids[:1] == [self.first] else [self.first, *ids]

    @cached_property
    def not_applied(self) -> list[str]:
        """Names of settings of the library's `generate` that greedy decoding here ignores."""
        return [name for name, off in _NEUTRAL.items() if self._generation(name) not in off]

    def rules(self, kind: Kind, first: int, last: int, forced: Mapping[int, int]) -> DecodingRules:
        """The rules of decoding from step `first` to `last`; forced: step → imposed id."""
        imposed = dict(forced)
        if kind == Kind.ENCODER_DECODER and self.first is not None:
            imposed.setdefault(first, self.first)
        words = [word for word in self._listed("bad_words_ids") if isinstance(word, list | tuple)]
        always = [*self._listed("suppress_tokens"), *(word[0] for word in words if len(word) == 1)]
        return DecodingRules(
            first,
            last,
            ends=self._ids(sorted(self.ends)),
            never=self._ids(always),
            never_first=self._ids(self._listed("begin_suppress_tokens")),
            forced=imposed,
        )

    def _listed(self, name: str) -> list[Any]:
        found = self._generation(name)
        return list(found) if isinstance(found, list | tuple) else []

    def _ids(self, numbers: list[Any]) -> Tensor:
        return torch.tensor([number for number in numbers if self._is_id(number)]).long()

    def _is_id(self, found: Any) -> bool:
        """Whether a setting is an id of the model; a file may hold any value there."""
        return isinstance(found, int) and not isinstance(found, bool) and 0 <= found < self.size

    def _generation(self, name: str) -> Any:
        return getattr(getattr(self.model, "generation_config", None), name, None)

    def _config(self, name: str) -> Any:
        config = self.model.config
        found = getattr(config, name, None)
        return getattr(config.get_text_config(), name, None) if found is None else found
