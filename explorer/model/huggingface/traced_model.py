"""`HuggingFaceModel`: text in, one `Trace` out, for a model of the library."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import transformers
from torch import Tensor

from explorer.core.errors import (
    ConfigError,
    ModelDirectoryError,
    VocabularyError,
)
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.model.greedy_decoding import NO_TOKENS
from explorer.model.huggingface.anatomy import Anatomy, Kind
from explorer.model.huggingface.attention_arrays import attention_arrays
from explorer.model.huggingface.capture import Call
from explorer.model.huggingface.edits import Edits, edits_for
from explorer.model.huggingface.forced_tokens import forced_tokens
from explorer.model.huggingface.generation_settings import GenerationSettings
from explorer.model.huggingface.inputs import Inputs, padded_inputs
from explorer.model.huggingface.passes import Pass, full_pass, greedy_rows
from explorer.model.huggingface.predictions import Predictions
from explorer.model.huggingface.tokens import Tokens
from explorer.model.huggingface.verification import by_site, difference
from explorer.model.intervention_hooks import Means, refuse_outside

NEW_TOKENS = {Kind.ENCODER_DECODER: 128, Kind.DECODER_ONLY: 32, Kind.ENCODER_ONLY: 0}
"""The most tokens that are decoded unless told otherwise."""

_CAPTURES = ("pattern", "full")
_PAD_LABEL = "<pad>"


@dataclass(frozen=True)
class HuggingFaceModel:
    """A model of the library `transformers` with its tokens, and `trace`.

    Threads can share one: tracing changes nothing in the model.

    positions: the most tokens of a sequence; None without a limit.
    notes: what a reader should know, such as that the model goes on by ids.
    """

    name: str
    model: Any
    anatomy: Anatomy
    tokens: Tokens
    positions: int | None
    notes: tuple[ModelDirectoryError, ...] = ()

    def __repr__(self) -> str:
        sites = {place.site for place in self.anatomy.places}
        sizes = ", ".join(
            f"{site} {self.anatomy.layers(site)} × {self.anatomy.heads(site)} heads"
            for site in ("encoder", "decoder", "cross")
            if site in sites
        )
        return f"HuggingFaceModel({self.name!r}, {self.facts['family']}: {sizes})"

    @property
    def kind(self) -> Kind:
        return self.anatomy.kind

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Where the model comes from: family, kind, class, library, dtype; in every trace."""
        facts: dict[str, Any] = {
            "family": str(self.model.config.model_type),
            "kind": str(self.kind),
            "class": type(self.model).__name__,
            "library": f"transformers {transformers.__version__}",
            "parameters": int(self.model.num_parameters()),
            "tokens": "ids" if self.tokens.tokenizer is None else "text",
        }
        if self.model.dtype != torch.float32:
            facts["precision"] = "half"
        if numbers := self.anatomy.layer_numbers():
            facts["layer_numbers"] = numbers
        if ignored := self._settings.not_applied:
            facts["not_applied"] = ignored
        if self.notes:
            facts["notes"] = [str(note) for note in self.notes]
        return facts

    @torch.inference_mode()
    def trace(
        self,
        text: str,
        *,
        target: str | None = None,
        prefix: str | None = None,
        force: Mapping[int, int] = NO_TOKENS,
        pad_to: int | None = None,
        max_new_tokens: int | None = None,
        capture: str = "pattern",
        ablate: Iterable[Sequence[Any]] = (),
        keep: Iterable[Sequence[Any]] = (),
        edit_mask: Iterable[Sequence[Any]] = (),
        override_row: Iterable[Sequence[Any]] = (),
        means: Means | None = None,
    ) -> Trace:
        """Decode `text` greedily, then capture everything in one pass over the result.

        text: the source; of a decoder-only model the prompt; of an encoder-only one the whole
            text, in which the model fills in its mask tokens.
        target, prefix, force: as in `ExplorableModel.trace`. Step t follows row t − 1; of a
            decoder-only model target and prefix go on after the prompt, whose own steps are fixed.
        pad_to: number of tokens to which the text is padded: at the right, and at the left in a
            decoder-only model, where a continuation follows.
        max_new_tokens: the most tokens to decode; None = those of `NEW_TOKENS`.
        capture: "pattern", or "full" for scores, values and head outputs too.
        ablate, keep, edit_mask, override_row: as in `ExplorableModel.trace`; heads are those of
            queries. `means` is not offered here.

        Raises `VocabularyError`, `ConfigError`, `InterventionError` and `MaskError` as
        `ExplorableModel.trace` does.
        """
        if capture not in _CAPTURES:
            raise ConfigError("bad_capture", capture=capture)
        decodes = self.kind != Kind.ENCODER_ONLY
        _refuse_forcing(decodes, target is not None, prefix is not None, bool(force))
        interventions = Interventions.gather(ablate, keep, edit_mask, override_row)
        edits = edits_for(interventions, self.anatomy)
        inputs, labels = self._inputs(text, pad_to)
        forced: Mapping[int, int] = {}
        chosen: list[int] = []
        cached = torch.empty(0)
        if decodes:
            forced = self._forced(inputs, target, prefix, force)
            new = NEW_TOKENS[self.kind] if max_new_tokens is None else max_new_tokens
            cached, chosen = self._decode(inputs, edits, forced, max(1, new, len(forced)))
            inputs = inputs.with_target(chosen[:-1])
        sizes = [0 if ids is None else ids.size(1) for ids in (inputs.source, inputs.target)]
        refuse_outside(interventions, *sizes)
        captured = full_pass(self.model, self.kind, inputs, edits, record=True)
        plain = full_pass(self.model, self.kind, inputs, edits, library=True)
        shown = plain.outputs if interventions.counterfactual or not decodes else cached
        calls = self._calls(captured)
        arrays = attention_arrays(calls, inputs, interventions, full=capture == "full")
        ends = self._settings.ends
        predictions = Predictions(
            self.kind, self.tokens, inputs, labels, shown, chosen, forced, ends
        )
        steps, candidates = predictions.steps()
        facts: dict[str, Any] = {"model": self.name, **self.facts, "text": text, "pad_to": pad_to}
        facts |= {"forced": {str(step): token for step, token in forced.items()}}
        facts |= {"given": target is not None}
        if interventions:
            facts["interventions"] = list(interventions.texts())
        if decodes:
            facts["ended"] = chosen[-1] in ends
        if self.kind == Kind.DECODER_ONLY:
            facts["prompt"] = len(labels)
        return Trace(
            source_tokens=predictions.source_labels(),
            target_tokens=predictions.target_labels(),
            predicted_tokens=predictions.predicted_labels(),
            text=predictions.text(),
            arrays=arrays | steps,
            candidate_tokens=candidates,
            measured=self._measured(calls, captured, plain, cached, inputs, edits, pad_to),
            facts=facts,
        )

    def _inputs(self, text: str, pad_to: int | None) -> tuple[Inputs, tuple[str, ...]]:
        """The ids with padding, without what is decoded, and the labels of `text`."""
        ids, labels = self.tokens.source(text)
        decoder_only = self.kind == Kind.DECODER_ONLY
        limit = self.positions
        if limit is not None and len(ids) > limit - decoder_only:
            raise VocabularyError("long_source", got=len(ids), limit=limit - decoder_only)
        if pad_to is not None and not len(ids) <= pad_to <= (limit or pad_to):
            facts = {"pad_to": pad_to, "length": len(ids), "limit": limit or "∞"}
            raise ConfigError("bad_padding", **facts)
        count = (pad_to or len(ids)) - len(ids)
        pad = self.tokens.pad_id
        pad = self._settings.padding if pad is None or pad >= self.tokens.size else pad
        inputs = padded_inputs(self.kind, ids, [pad] * count, self._settings.start)
        padding = (_PAD_LABEL,) * count
        return inputs, (*padding, *labels) if decoder_only else (*labels, *padding)

    def _forced(
        self, inputs: Inputs, target: str | None, prefix: str | None, force: Mapping[int, int]
    ) -> Mapping[int, int]:
        """Step → the id its token must have."""
        assert inputs.target is not None
        first, ends = inputs.target.size(1), self._settings.ends
        return forced_tokens(self.tokens, first, self.positions, ends, target, prefix, force)

    def _decode(
        self, inputs: Inputs, edits: Edits, forced: Mapping[int, int], new: int
    ) -> tuple[Tensor, list[int]]:
        """Logits (T, V) of decoding step by step, and the new tokens."""
        assert inputs.target is not None
        first = inputs.target.size(1)
        last = first + new - 1
        if self.positions is not None:
            last = min(last, self.positions)
        imposed = dict(forced)
        settings = self._settings
        if self.kind == Kind.ENCODER_DECODER and settings.first is not None:
            imposed.setdefault(first, settings.first)
        never, ends = settings.never(first), settings.ends
        rows, chosen = [], []
        found = greedy_rows(self.model, self.kind, inputs, edits, imposed, never, ends, last)
        for logits, token in found:
            rows.append(logits.float())
            chosen.append(token)
        reached = first + len(chosen) - 1
        if forced and max(forced) > reached:
            raise VocabularyError("no_such_step", step=max(forced), last=reached)
        return torch.cat(rows), chosen

    def _measured(
        self,
        calls: Mapping[str, Sequence[Call]],
        captured: Pass,
        plain: Pass,
        cached: Tensor,
        inputs: Inputs,
        edits: Edits,
        pad_to: int | None,
    ) -> dict[str, float]:
        """The errors that only the model can measure."""
        measured = {
            "hooked_equals_plain": _largest(captured.outputs, plain.outputs),
            "equals_library": max(
                difference(calls[site], own) for site, own in plain.library.items() if own
            ),
        }
        real = torch.ones(len(plain.outputs), dtype=torch.bool)
        if inputs.target_mask is not None:
            real = inputs.target_mask[0] == 1
        elif plain.outputs.ndim == 2 and inputs.source_mask is not None:
            real = inputs.source_mask[0] == 1
        if len(cached):
            measured["cached_equals_full"] = _largest(cached[real], plain.outputs[real])
        if pad_to is not None and not edits.encoder and not edits.decoder:
            bare = full_pass(self.model, self.kind, inputs.without_padding())
            measured["padding_changes_nothing"] = _largest(plain.outputs[real], bare.outputs)
        return measured

    def _calls(self, captured: Pass) -> dict[str, list[Call]]:
        """The recorded calls of each site, one a layer."""
        calls = by_site(self.anatomy.encoder, captured.encoder)
        return calls | by_site(self.anatomy.decoder, captured.decoder)

    @cached_property
    def _settings(self) -> GenerationSettings:
        return GenerationSettings(self.model, self.tokens.size)


def _refuse_forcing(decodes: bool, target: bool, prefix: bool, force: bool) -> None:
    """Raise `ConfigError` when output is imposed in two ways, or on a model without a decoder."""
    ways = target + prefix + force
    if ways > 1:
        raise ConfigError("two_ways_to_force")
    if ways and not decodes:
        raise ConfigError("no_decoder")


def _largest(one: Tensor, other: Tensor) -> float:
    return float((one.float() - other.float()).abs().max())
