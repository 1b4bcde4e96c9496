"""`ExplorableModel`: text in, one `Trace` out."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import torch
from torch import Tensor

from explorer.core.errors import ConfigError, EvaluationBatchError, VocabularyError
from explorer.core.files import as_path
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.core.trace_size import layer_facts, refuse_logits
from explorer.core.verbs import CellEdit
from explorer.core.vocabulary import BOS, EOS, PAD, Vocabulary, check_text, valid_text
from explorer.model.batched_traces import batched_traces
from explorer.model.captured_pass import attention_sizes, captured_pass
from explorer.model.checkpoint import Checkpoint, load_checkpoint
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.fingerprint import fingerprint
from explorer.model.greedy_decoding import NO_TOKENS, decoding_steps
from explorer.model.hooks import path
from explorer.model.masks import padding_mask, path_mask
from explorer.model.points import NO_ACTIONS, NO_READERS, Actions, Readers
from explorer.model.refused_interventions import refuse_misplaced
from explorer.model.row_logits import RowLogits, largest_difference
from explorer.model.threads import threads_for
from explorer.model.trace_assembly import Decoded, assembled
from explorer.model.trace_options import (
    AFTER_PROMPT,
    TracedModel,
    TraceOptions,
    refuse_of_library,
)
from explorer.model.transformer import Transformer
from explorer.model.transformer_passes import TransformerPasses, fed_sides
from explorer.model.transformer_run import acting, run, transformer_actions


@dataclass(frozen=True)
class ExplorableModel(TracedModel):
    """A Transformer with its vocabularies and facts, and `trace`.

    Threads can share one: tracing changes nothing in the model.
    """

    checkpoint: Checkpoint
    name: str

    def __repr__(self) -> str:
        config = self.transformer.config
        layers = "+".join(str(n) for n in (config.encoder_layers, config.decoder_layers) if n)
        return f"ExplorableModel({self.name!r}: {layers} layers, {config.heads} heads)"

    @property
    def transformer(self) -> Transformer:
        return self.checkpoint.model

    @property
    def source_vocabulary(self) -> Vocabulary:
        return self.checkpoint.source_vocabulary

    @property
    def target_vocabulary(self) -> Vocabulary:
        return self.checkpoint.target_vocabulary

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts of the checkpoint."""
        return self.checkpoint.facts

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for a reader of the model; none for our own Transformer."""
        return ()

    @property
    def digest(self) -> str:
        """A fingerprint of the sizes and weights."""
        return fingerprint(json.dumps(self._sizes), self.transformer.named_parameters())

    def in_languages(self, source: str | None = None, target: str | None = None) -> Self:
        """This model itself. Raises `ConfigError` on any language: it offers no choice."""
        refuse_of_library(None, None, source, target)
        return self

    @cached_property
    def passes(self) -> TransformerPasses:
        """Passes over batches of sentences, for measurements of heads."""
        return TransformerPasses(self.checkpoint)

    @cached_property
    def _sizes(self) -> dict[str, Any]:
        return self.transformer.config.to_json()

    @torch.inference_mode()
    def _traced(self, options: TraceOptions) -> Trace:
        text, pad_to = options.text, options.pad_to
        languages = (options.source_language, options.target_language)
        refuse_of_library(options.pair, options.messages, *languages)
        check_text(text)
        assert text is not None
        model = self.transformer
        source, prompt = self._read(text, pad_to)  # (1, S)
        forced = self._forced(options, len(prompt))
        # Most outputs are about as long as their source; the real length is checked after decoding.
        steps = len(prompt) + (source.size(1) if options.target is None else len(forced))
        sizes = attention_sizes(model.config, source.size(1), steps, full=options.full)
        options.choice.within(sizes)
        facts = self.described(text, forced, pad_to) | {"given": options.target is not None}
        facts |= options.changes
        if prompt:
            facts |= {"prompt": len(prompt) + 1}  # with its beginning
        changed = transformer_actions(options.interventions, model.config, options.means)
        with acting(model, changed):
            return self._run(source, prompt, forced, options, facts)

    def _run(
        self,
        source: Tensor,
        prompt: Sequence[int],
        forced: Mapping[int, int],
        options: TraceOptions,
        facts: dict[str, Any],
    ) -> Trace:
        """Decode `source` (1, S) after `prompt`, capture one pass over the result, and assemble the
        trace."""
        model, config, mask = self.transformer, self.transformer.config, padding_mask(source)
        last = self._last_step(len(prompt), options.max_new_tokens)
        most = min(max(last, *forced, 1), config.max_length)
        imposed = {**dict(enumerate(prompt, start=1)), **forced}
        with threads_for(config.parameters, source.size(1)):
            memory = model.encode(source, mask)  # (1, S, D)
        with threads_for(config.parameters, tokens=1):
            steps: list[tuple[Tensor, Tensor]] = []
            drawing = options.interventions.draw
            for logits, token in decoding_steps(model, memory, mask, most, imposed, drawing):
                steps.append((logits.cpu(), token))
                refuse_logits(len(steps), config.target_vocabulary)
        cached_logits = RowLogits.of_steps([logits for logits, _ in steps])
        chosen = torch.cat([token for _, token in steps])  # (T,)
        if forced and max(forced) > len(steps):
            raise VocabularyError("no_such_step", step=max(forced), last=len(steps))
        queries = torch.cat([chosen.new_tensor([BOS]), chosen[:-1]])[None]  # (1, T)
        self._refuse_misplaced(options.interventions, source[0] != PAD, queries[0] != PAD)
        sizes = attention_sizes(config, source.size(1), queries.size(1), full=options.full)
        places = options.choice.within(sizes)
        with threads_for(config.parameters, source.size(1)):
            hooked_logits, arrays = captured_pass(model, source, queries, places, full=options.full)
            plain_logits = self._logits(model.decoder_output(queries, memory, mask))
            measured = {
                "hooked_equals_plain": largest_difference(hooked_logits, plain_logits),
                "cached_equals_full": largest_difference(cached_logits, plain_logits),
                **self._measure_padding(source, queries, plain_logits),
            }
        # Only the full pass has later positions to unmask; step-by-step decoding does not.
        shown = plain_logits if options.interventions.counterfactual else cached_logits
        given = frozenset(imposed)
        decoded = Decoded(source[0].cpu(), chosen.cpu(), shown, given, prompt=len(prompt))
        facts |= layer_facts(sizes, places)
        return assembled(self.checkpoint, decoded, arrays, measured, facts)

    def traces(self, texts: Sequence[str]) -> list[Trace]:
        """The trace of each text, decoded and captured in batches: many times faster than `trace`.

        >>> model = explorer.load("checkpoints/reverse.safetensors")
        >>> [trace.text for trace in model.traces(["7 3 9", "4 1"])]
        ['9 3 7', '1 4']

        Weights and probabilities equal those of `trace` to rounding. Raises `VocabularyError` if
        `texts` is not a list of texts, or if a text cannot be read or is too long.
        """
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            raise VocabularyError("not_texts", got=type(texts).__name__)
        listed = list(texts)
        if self.transformer.config.decoder_only:
            return [self.trace(text) for text in listed]
        sources = [self.source_ids(text) for text in listed]
        return batched_traces(self.checkpoint, sources, list(map(self.described, listed)))

    def rerun(
        self,
        of: Trace | EvaluationBatch,
        actions: Actions = NO_ACTIONS,
        readers: Readers = NO_READERS,
        copies: int = 1,
    ) -> RowLogits:
        """See `measurable.MeasurableModel`. Raises `VocabularyError` as `fed`."""
        source, target = (ids.to(self.transformer.device) for ids in self.fed(of))
        return run(self.transformer, source, target, actions, readers, copies)

    def fed(self, of: Trace | EvaluationBatch) -> tuple[Tensor, Tensor]:
        """Input ids of encoder and decoder in a trace of this model, or in a batch: (N, S) with
        the padding, and (N, T). S = 0 for a decoder alone.

        Raises `VocabularyError` on a trace of a text that the model cannot read.
        """
        if isinstance(of, EvaluationBatch):
            source, queries = fed_sides(of)
            return source.ids, queries.ids
        ids = self.source_ids(str(of.facts["text"]))
        ids += [PAD] * (len(of.source_tokens) - len(ids))
        target = torch.cat([torch.tensor([[BOS]]), chosen_ids(of)[:, :-1]], 1)
        return torch.tensor([ids], dtype=torch.long), target

    def output_weights(self) -> Mapping[str, list[Tensor]]:
        """By site, the weights W_O (H · K, D) of each layer; head h has K rows from h · K on."""
        found: dict[str, list[Tensor]] = {}
        for site, layer in self.transformer.config.attentions:
            projection: Any = self.transformer.get_submodule(path(site, layer, "output"))
            found.setdefault(site, []).append(projection.weight.T)
        return found

    def check_text(self, text: str, side: Literal["source", "target"]) -> None:
        """Raise `VocabularyError` on a text that cannot be read or is too long, and
        `EvaluationBatchError` on a target for a decoder alone."""
        if side == "source":
            self.checkpoint.read(text)
        elif self.transformer.config.decoder_only:
            raise EvaluationBatchError("pairs_refused")
        else:
            self.checkpoint.ids(text, side)

    def source_ids(self, text: str) -> list[int]:
        """Ids of `text` with its end; none in a decoder alone. Raises `VocabularyError` if it
        cannot be read or is too long."""
        return self.checkpoint.read(text)[0]

    def _read(self, text: str, pad_to: int | None) -> tuple[Tensor, list[int]]:
        """Ids of the source with end and padding, (1, S), and of the prompt."""
        ids, prompt = self.checkpoint.read(text)
        limit = self.transformer.config.max_length
        length = len(ids) or len(prompt) + 1
        if pad_to is not None and not length <= pad_to <= (limit if ids else length):
            key = "bad_padding" if ids else "no_padding"
            raise ConfigError(key, pad_to=pad_to, length=length, limit=limit)
        padding = [PAD] * ((pad_to or length) - length)
        source = torch.tensor([ids + padding], dtype=torch.long, device=self.transformer.device)
        return source, prompt

    def _last_step(self, prompt: int, most: int | None) -> int:
        """The last decoding step after a prompt of so many tokens: `most` tokens more."""
        limit = self.transformer.config.max_length
        return min(prompt + (most or (AFTER_PROMPT if prompt else limit)), limit)

    def _forced(self, options: TraceOptions, prompt: int) -> Mapping[int, int]:
        """Step → the id its token must have, after the `prompt` tokens of the prompt."""
        if not options.forces:
            return {}
        text = options.prefix if options.target is None else options.target
        if text is None:
            return self._checked(options.force, prompt)
        ids = self.checkpoint.ids(text, "target", ended=options.target is not None)
        limit = self.transformer.config.max_length
        if prompt + len(ids) > limit:
            raise VocabularyError("long_target", got=len(ids), limit=limit - prompt)
        return dict(enumerate(ids, start=prompt + 1))

    def _checked(self, force: Mapping[int, int], prompt: int) -> Mapping[int, int]:
        last = len(self.target_vocabulary) - 1
        for step, token in force.items():
            if not EOS <= token <= last:
                raise VocabularyError("no_candidate", token=token, last=last)
            if step < 1:
                raise VocabularyError("no_such_step", step=step, last=1)
            if step <= prompt:
                raise VocabularyError("fixed_step", step=step, first=prompt + 1)
        return dict(force)

    def _refuse_misplaced(
        self, interventions: Interventions, source: Tensor, target: Tensor
    ) -> None:
        """source, target: (S,) and (T,), False for padding. Raises as `refuse_misplaced`."""
        config = self.transformer.config

        def unmasked(cell: CellEdit) -> Tensor:
            mask = path_mask(cell.site, source, target, causal=config.causal)
            return mask[cell.query, cell.key].repeat(config.layers(cell.site), config.heads)

        refuse_misplaced(interventions, len(source), len(target), unmasked)

    def _logits(self, hidden: Tensor) -> RowLogits:
        """Logits of the decoder's output (1, T, D)."""
        model = self.transformer
        return RowLogits.of_states(hidden, model.logits, model.config.target_vocabulary)

    def _measure_padding(
        self, source: Tensor, target: Tensor, logits: RowLogits
    ) -> dict[str, float]:
        """Largest change of the `logits` by the padding of `source`; empty without padding."""
        bare = source[:, source[0] != PAD]
        if bare.size(1) == source.size(1):
            return {}
        alone = self._logits(self.transformer.hidden(bare, target))
        return {"padding_changes_nothing": largest_difference(logits, alone)}

    def described(
        self, text: str, forced: Mapping[int, int] = NO_TOKENS, pad_to: int | None = None
    ) -> dict[str, Any]:
        """Facts of a trace about the model and the request."""
        kept = ("task", "longest", "steps", "exact_match", "bleu")
        return {
            "model": self.name,
            **{name: self.facts[name] for name in kept if name in self.facts},
            "config": self._sizes,
            "text": valid_text(text),
            "forced": {str(step): token for step, token in forced.items()},
            "pad_to": pad_to,
        }


def chosen_ids(trace: Trace) -> Tensor:
    """(1, T) ids of the tokens that follow each row of a trace, chosen by the model or given."""
    chosen = trace.arrays["steps.id"][trace.arrays["steps.chosen"].astype(bool)]  # by step
    return torch.tensor([chosen.tolist()])


def load(path: str | Path, name: str | None = None) -> ExplorableModel:
    """The model in a checkpoint file. Raises `FileError`, `CheckpointError`.

    name: in the facts of its traces; None = the name of the file.
    """
    return ExplorableModel(load_checkpoint(path), as_path(path).stem if name is None else name)
