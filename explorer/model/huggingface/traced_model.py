"""`HuggingFaceModel`: text in, one `Trace` out, for a model of the library."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import (
    ConfigError,
    ModelDirectoryError,
    VocabularyError,
)
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.core.trace_from_arrays import without_padding_rows
from explorer.model.candidates import candidate_columns
from explorer.model.greedy_decoding import NO_TOKENS
from explorer.model.huggingface.anatomy import Anatomy, Kind
from explorer.model.huggingface.capture import Call, recomputed, scores, values
from explorer.model.huggingface.edits import Edits, edits_for
from explorer.model.huggingface.masks import site_codes
from explorer.model.huggingface.passes import Inputs, Pass, full_pass, greedy_rows
from explorer.model.huggingface.tokens import Tokens
from explorer.model.huggingface.verification import by_site, difference
from explorer.model.intervention_hooks import Means, refuse_outside

NEW_TOKENS = {Kind.ENCODER_DECODER: 128, Kind.DECODER_ONLY: 32, Kind.ENCODER_ONLY: 0}
"""The most tokens that are decoded unless told otherwise."""

_CAPTURES = ("pattern", "full")
_PAD_LABEL = "<pad>"
_IGNORED = {  # settings of the library's `generate` that greedy decoding has no part in → neutral
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
        if ignored := self._ignored:
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
        if sum((target is not None, prefix is not None, bool(force))) > 1:
            raise ConfigError("two_ways_to_force")
        decodes = self.kind != Kind.ENCODER_ONLY
        if not decodes and (target is not None or prefix is not None or force):
            raise ConfigError("no_decoder")
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
            inputs = _with_target(inputs, chosen[:-1])
        sizes = [0 if ids is None else ids.size(1) for ids in (inputs.source, inputs.target)]
        refuse_outside(interventions, *sizes)
        captured = full_pass(self.model, self.kind, inputs, edits, record=True)
        plain = full_pass(self.model, self.kind, inputs, edits, library=True)
        shown = plain.outputs if interventions.counterfactual or not decodes else cached
        arrays = self._arrays(captured, inputs, interventions, capture)
        steps, candidates = self._steps(shown, inputs, chosen, forced)
        facts: dict[str, Any] = {"model": self.name, **self.facts, "text": text, "pad_to": pad_to}
        facts |= {"forced": {str(step): token for step, token in forced.items()}}
        facts |= {"given": target is not None}
        if interventions:
            facts["interventions"] = list(interventions.texts())
        if decodes:
            facts["ended"] = chosen[-1] in self._ends
        if self.kind == Kind.DECODER_ONLY:
            facts["prompt"] = len(labels)
        return Trace(
            source_tokens=() if self.kind == Kind.DECODER_ONLY else labels,
            target_tokens=self._target_labels(inputs, labels),
            predicted_tokens=self._predicted_labels(inputs, labels, chosen),
            text=self._text(inputs, shown, chosen),
            arrays=arrays | steps,
            candidate_tokens=candidates,
            measured=self._measured(captured, plain, cached, inputs, edits, pad_to),
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
        pad = self._config("pad_token_id", 0) if pad is None else pad
        padding = [pad if isinstance(pad, int) and 0 <= pad < self.tokens.size else 0] * count
        mask = [1] * len(ids)
        if decoder_only:
            padded, open_ = [*padding, *ids], [0] * count + mask
            labels = (*(_PAD_LABEL,) * count, *labels)
            both = (torch.tensor([padded]), torch.tensor([open_]))
            return Inputs(target=both[0], target_mask=both[1]), labels
        padded, open_ = [*ids, *padding], mask + [0] * count
        labels = (*labels, *(_PAD_LABEL,) * count)
        source, source_mask = torch.tensor([padded]), torch.tensor([open_])
        if self.kind == Kind.ENCODER_ONLY:
            return Inputs(source, source_mask), labels
        start = torch.tensor([[self._start]])
        return Inputs(source, source_mask, start, torch.ones_like(start)), labels

    def _forced(
        self, inputs: Inputs, target: str | None, prefix: str | None, force: Mapping[int, int]
    ) -> Mapping[int, int]:
        """Step → the id its token must have."""
        assert inputs.target is not None
        first = inputs.target.size(1)
        text = target if target is not None else prefix
        if text is not None:
            ids = self.tokens.target(text)
            ids += sorted(self._ends)[:1] if target is not None else []
            most = None if self.positions is None else self.positions - first + 1
            if most is not None and len(ids) > most:
                raise VocabularyError("long_target", got=len(ids), limit=most)
            return dict(enumerate(ids, start=first))
        last = self.tokens.size - 1
        for step, token in force.items():
            if not isinstance(token, int) or not 0 <= token <= last:
                raise VocabularyError("no_candidate", token=token, last=last)
            if step < first:
                raise VocabularyError("fixed_step", step=step, first=first)
        return dict(force)

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
        begin = self._generation("forced_bos_token_id")
        if self.kind == Kind.ENCODER_DECODER and isinstance(begin, int):
            imposed.setdefault(first, begin)
        never = {0: self._never("suppress_tokens"), first: self._never("begin_suppress_tokens")}
        rows, chosen = [], []
        found = greedy_rows(self.model, self.kind, inputs, edits, imposed, never, self._ends, last)
        for logits, token in found:
            rows.append(logits.float())
            chosen.append(token)
        reached = first + len(chosen) - 1
        if forced and max(forced) > reached:
            raise VocabularyError("no_such_step", step=max(forced), last=reached)
        return torch.cat(rows), chosen

    def _arrays(
        self, captured: Pass, inputs: Inputs, interventions: Interventions, capture: str
    ) -> dict[str, NDArray[Any]]:
        """The captured values as the arrays of a `Trace`."""
        calls = by_site(self.anatomy.encoder, captured.encoder)
        calls |= by_site(self.anatomy.decoder, captured.decoder)
        arrays: dict[str, NDArray[Any]] = {}
        for site, layers in calls.items():
            mask = inputs.target_mask if site == "decoder" else inputs.source_mask
            assert mask is not None
            closed = site_codes(layers, (mask[0] == 0).numpy(), causal=site == "decoder")
            weights = torch.cat([call.weights for call in layers]).float().numpy()
            arrays[f"{site}.attention"] = without_padding_rows(weights, closed)
            arrays[f"{site}.closed"] = closed
            arrays |= _sink(site, layers, interventions)
            if capture == "full":
                for kind, read in _INSIDE.items():
                    found = torch.cat([read(call) for call in layers])
                    arrays[f"{site}.{kind}"] = found.float().numpy()
        return arrays

    def _steps(
        self, outputs: Tensor, inputs: Inputs, chosen: list[int], forced: Mapping[int, int]
    ) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
        """The columns of `Trace.steps`, and the labels of the candidates."""
        if self.kind == Kind.ENCODER_ONLY:
            masked = self._masked(inputs, outputs)
            if not len(masked):
                return {}, ()
            probabilities = outputs[masked].float().softmax(-1)
            best = probabilities.argmax(-1)
            arrays = candidate_columns(
                probabilities, best, torch.zeros_like(best, dtype=torch.bool)
            )
            arrays["steps.step"] = masked.numpy()[arrays["steps.step"] - 1] + 1
        else:
            follows = torch.tensor(self._follows(inputs, chosen))
            fixed = len(follows) - len(chosen)
            own = [t < fixed or t + 1 in forced for t in range(len(follows))]
            probabilities = outputs.float().softmax(-1)
            arrays = candidate_columns(probabilities, follows, torch.tensor(own))
        names = {number: self.tokens.label(number) for number in set(arrays["steps.id"].tolist())}
        return arrays, tuple(names[number] for number in arrays["steps.id"].tolist())

    def _masked(self, inputs: Inputs, outputs: Tensor) -> Tensor:
        """The positions of mask tokens that the model fills in."""
        assert inputs.source is not None
        mask = self.tokens.mask_id
        predicts = outputs.ndim == 2 and outputs.size(-1) >= self.tokens.size
        if mask is None or not predicts:
            return torch.empty(0, dtype=torch.long)
        return (inputs.source[0] == mask).nonzero()[:, 0]

    def _follows(self, inputs: Inputs, chosen: list[int]) -> list[int]:
        """The id that follows each row of the target."""
        assert inputs.target is not None
        return [*inputs.target[0, 1:].tolist(), chosen[-1]]

    def _target_labels(self, inputs: Inputs, labels: tuple[str, ...]) -> tuple[str, ...]:
        if inputs.target is None:
            return ()
        ids = inputs.target[0].tolist()
        if self.kind == Kind.DECODER_ONLY:
            return (*labels, *self.tokens.labels(ids)[len(labels) :])
        return self.tokens.labels(ids)

    def _predicted_labels(
        self, inputs: Inputs, labels: tuple[str, ...], chosen: list[int]
    ) -> tuple[str, ...]:
        if inputs.target is None:
            return ()
        ids = [*inputs.target[0].tolist(), chosen[-1]]
        last = self.tokens.labels(ids)[-1:]
        return (*self._target_labels(inputs, labels)[1:], *last)

    def _text(self, inputs: Inputs, outputs: Tensor, chosen: list[int]) -> str:
        """What was decoded; of an encoder-only model the text with its masks filled in."""
        if self.kind != Kind.ENCODER_ONLY:
            return self.tokens.decode([token for token in chosen if token not in self._ends])
        assert inputs.source is not None
        assert inputs.source_mask is not None
        ids = inputs.source[0].clone()
        masked = self._masked(inputs, outputs)
        ids[masked] = outputs[masked].argmax(-1)
        return self.tokens.decode(ids[inputs.source_mask[0] == 1].tolist())

    def _measured(
        self,
        captured: Pass,
        plain: Pass,
        cached: Tensor,
        inputs: Inputs,
        edits: Edits,
        pad_to: int | None,
    ) -> dict[str, float]:
        """The errors that only the model can measure."""
        calls = by_site(self.anatomy.encoder, captured.encoder)
        calls |= by_site(self.anatomy.decoder, captured.decoder)
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
            bare = full_pass(self.model, self.kind, _without_padding(inputs))
            measured["padding_changes_nothing"] = _largest(plain.outputs[real], bare.outputs)
        return measured

    @property
    def _start(self) -> int:
        for found in (
            self._generation("decoder_start_token_id"),
            self._config("decoder_start_token_id", None),
            self._generation("bos_token_id"),
            self._config("bos_token_id", None),
        ):
            if isinstance(found, int):
                return found
        return 0

    @cached_property
    def _ends(self) -> frozenset[int]:
        found = self._generation("eos_token_id")
        found = self._config("eos_token_id", None) if found is None else found
        return frozenset([found] if isinstance(found, int) else found or ())

    @cached_property
    def _ignored(self) -> list[str]:
        """Settings of the library's `generate` that differ from greedy decoding."""
        return [name for name, neutral in _IGNORED.items() if self._generation(name) not in neutral]

    def _never(self, name: str) -> Tensor:
        """Ids that the generation config forbids: those of `name`, and single forbidden words."""
        ids = list(self._generation(name) or ())
        if name == "suppress_tokens":
            words = self._generation("bad_words_ids") or ()
            ids += [word[0] for word in words if len(word) == 1]
        return torch.tensor([number for number in ids if 0 <= number < self.tokens.size]).long()

    def _generation(self, name: str) -> Any:
        return getattr(getattr(self.model, "generation_config", None), name, None)

    def _config(self, name: str, default: Any) -> Any:
        found = getattr(self.model.config, name, None)
        found = getattr(self.model.config.get_text_config(), name, None) if found is None else found
        return default if found is None else found


def _head_output(call: Call) -> Tensor:
    return call.output.transpose(1, 2)  # (1, H, Q, width)


_INSIDE = {"scores": scores, "values": values, "head_output": _head_output}


def _sink(
    site: str, layers: Sequence[Call], interventions: Interventions
) -> dict[str, NDArray[np.float32]]:
    """The weight of each query's sink, where a layer has sinks; a row that was set has none."""
    found = [
        recomputed(call)[1] for call in layers if getattr(call.module, "sinks", None) is not None
    ]
    if len(found) != len(layers):
        return {}
    sink = torch.cat([layer for layer in found if layer is not None]).float()
    for row in interventions.override_row:
        if row.site == site:
            sink[row.layer, row.head, row.query] = 0
    return {f"{site}.sink": sink.numpy()}


def _with_target(inputs: Inputs, new: list[int]) -> Inputs:
    """`inputs` with the decoded tokens that are fed in."""
    assert inputs.target is not None
    assert inputs.target_mask is not None
    more = torch.tensor([new], dtype=torch.long)
    target = torch.cat([inputs.target, more], 1)
    mask = torch.cat([inputs.target_mask, torch.ones_like(more)], 1)
    return Inputs(inputs.source, inputs.source_mask, target, mask)


def _without_padding(inputs: Inputs) -> Inputs:
    def bare(ids: Tensor | None, mask: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
        if ids is None or mask is None:
            return None, None
        real = mask[0] == 1
        return ids[:, real], mask[:, real]

    return Inputs(
        *bare(inputs.source, inputs.source_mask), *bare(inputs.target, inputs.target_mask)
    )


def _largest(one: Tensor, other: Tensor) -> float:
    return float((one.float() - other.float()).abs().max())
