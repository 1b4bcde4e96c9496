"""`HuggingFaceModel`: text in, one `Trace` out, for a model of the library."""

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal, Self

import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor

from explorer.core.errors import (
    ConfigError,
    EvaluationBatchError,
    ModelDirectoryError,
    VocabularyError,
)
from explorer.core.interventions import Interventions, refuse_weights_only, stated
from explorer.core.predictions import PredictionKind
from explorer.core.trace import Trace
from explorer.core.trace_size import layer_facts, refuse_logits
from explorer.core.vocabulary import valid_text
from explorer.model.actions import MeanOutputs
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.fingerprint import fingerprint
from explorer.model.huggingface.anatomy import Anatomy, Kind
from explorer.model.huggingface.answers import answer_of, answered
from explorer.model.huggingface.batch_passes import LibraryPasses, inputs_of
from explorer.model.huggingface.capture.attention_calls import Seen
from explorer.model.huggingface.capture.edits import Edits, edits_of
from explorer.model.huggingface.capture.measured_errors import (
    measured_errors,
    padding_error,
    proves,
)
from explorer.model.huggingface.capture.passes import NOBODY, Pass, encoded, full_pass, greedy_rows
from explorer.model.huggingface.capture.recording import Recording
from explorer.model.huggingface.capture.verification import probe
from explorer.model.huggingface.chat_template import Message
from explorer.model.huggingface.decoding import (
    NEW_TOKENS,
    Decoded,
    DecodingRules,
    checked_steps,
    numbered_steps,
)
from explorer.model.huggingface.fed_text import decodes, fed
from explorer.model.huggingface.generation_settings import GenerationSettings
from explorer.model.huggingface.inputs import TOO_LONG, Inputs, padded_inputs, takes_segments
from explorer.model.huggingface.placement import devices_of, weights_of
from explorer.model.huggingface.predictions import Predictions
from explorer.model.huggingface.prepared_text import PreparedText, batches, windows
from explorer.model.huggingface.streams.early_predictions import early_of, early_predictions
from explorer.model.huggingface.streams.layer_path import LayerPath, layer_path
from explorer.model.huggingface.streams.left_out_passes import library_left_out, refuse_leaks
from explorer.model.huggingface.streams.output_projections import output_weights
from explorer.model.huggingface.streams.read_streams import ResidualPass
from explorer.model.huggingface.streams.residual_reading import residual_pass
from explorer.model.huggingface.text_languages import checked_language
from explorer.model.huggingface.tokens import TextTokens, Tokens
from explorer.model.left_out import LeftOutPasses
from explorer.model.measurable import NO_INTERVENTIONS
from explorer.model.points import NO_ACTIONS, NO_READERS, Actions, Readers
from explorer.model.refused_interventions import refuse_misplaced
from explorer.model.row_logits import RowLogits
from explorer.model.threads import threads_for
from explorer.model.trace_options import (
    TracedModel,
    TraceOptions,
    input_of,
    refuse_decoding,
    refuse_no_input,
)


@dataclass(frozen=True)
class HuggingFaceModel(TracedModel):
    """A model of the library `transformers` with its tokens, and `trace`.

    Threads can share one: tracing changes nothing in the model.

    positions: the most tokens of a sequence; None without a limit.
    notes: for a reader of the model, for example that its texts are ids.
    target_language: code of the output language; None = the one of its configs.
    """

    name: str
    model: Any
    anatomy: Anatomy
    tokens: Tokens
    positions: int | None
    notes: tuple[ModelDirectoryError, ...] = ()
    target_language: str | None = None

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

    @property
    def memory(self) -> int:
        """Bytes of its weights."""
        return int(self.model.get_memory_footprint())

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Facts of the model for every trace: family, kind, class, library, mask token …"""
        facts: dict[str, Any] = {
            "family": str(self.model.config.model_type),
            "kind": str(self.kind),
            "class": type(self.model).__name__,
            "library": f"transformers {transformers.__version__}",
            "parameters": int(self.model.num_parameters()),
            "tokens": "ids" if self.tokens.tokenizer is None else "text",
            "word_mark": self.tokens.word_mark,
        }
        if self.model.dtype != torch.float32:
            facts["precision"] = "half"
        if devices := devices_of(self.model):
            facts["devices"] = devices
        if numbers := self.anatomy.layer_numbers():
            facts["layer_numbers"] = numbers
        if (mask := self._mask_token) is not None:
            facts["mask"] = mask
        if self.has_segments and (separator := self.tokens.separator) is not None:
            facts["separator"] = separator
        if self.anatomy.weights_only:
            facts["weights_only"] = True
        if self.tokens.languages:
            facts["source_language"] = self.tokens.source_language
            facts["target_language"] = self._written_language
        if ignored := self._settings.not_applied:
            facts["not_applied"] = ignored
        if self.notes:
            facts["notes"] = [str(note) for note in self.notes]
        return facts

    @property
    def digest(self) -> str:
        """A fingerprint of the sizes and weights."""
        written = {"_name_or_path", "architectures", "dtype", "transformers_version"}
        config = self.model.config.to_dict()
        sizes = {name: value for name, value in config.items() if name not in written}
        description = json.dumps(sizes, sort_keys=True, default=str)
        return fingerprint(description, weights_of(self.model))

    def output_weights(self) -> Mapping[str, list[Tensor]]:
        """As `ExplorableModel.output_weights`. Raises `ConfigError` if a family has none, and
        `InterventionError` if only the weights of attention are known."""
        refuse_weights_only(self.facts)
        inputs = probe(self.model, self.kind, self.tokens.size, self.positions)
        return output_weights(self.model, self.anatomy, inputs)

    @torch.inference_mode()
    def residuals(
        self,
        of: Trace | EvaluationBatch,
        means: MeanOutputs | None = None,
        *,
        attention: bool = True,
    ) -> ResidualPass:
        """The residual streams of a trace of this model, with its interventions, or of a batch of
        one sentence: one more pass over the same tokens.

        means: of these interventions. attention: as in `residual_pass`.

        Raises `ConfigError` on a family whose layers are no sums, in half precision, and on weights
        that are not in memory.
        """
        self._refuse_half_precision()
        inputs = self._inputs_of(of)
        changes = stated(of.facts) if isinstance(of, Trace) else NO_INTERVENTIONS
        edits = self._edits(changes, means)
        with threads_for(self.passes.parameters, max(inputs.lengths)):
            return residual_pass(self.model, self.anatomy, inputs, edits, attention=attention)

    @torch.inference_mode()
    def early(
        self, trace: Trace, means: MeanOutputs | None = None
    ) -> tuple[Mapping[str, NDArray[Any]], Mapping[str, Any]]:
        """Arrays and facts of `Trace.early_predictions` for all layers of a trace that was not
        captured in full. Raises as `residuals`, and `ConfigError` on logits that are no linear map.
        """
        found = self.residuals(trace, means, attention=False)
        if found.to_logits is None:
            raise ConfigError("no_logit_map", name=self.name)
        return early_of(found, range(len(trace.attention("decoder"))), self.tokens)

    def layer_path(
        self, trace: Trace, site: str, layer: int, means: MeanOutputs | None = None
    ) -> LayerPath:
        """The way of the queries of `site` through a layer; layer: index among those of `trace`.
        Raises as `residuals`."""
        number = trace.layer_numbers(site)[layer]
        of_site = (place for place in self.anatomy.places if place.site == site)
        place = next(place for place in of_site if place.number == number)
        return layer_path(self.residuals(trace, means, attention=False), site, place.layer)

    @torch.inference_mode()
    def left_out(self, of: Trace | EvaluationBatch) -> LeftOutPasses:
        """Passes in which tokens are left out of a trace of this model, as if it had no
        interventions, or of a batch of one sentence.

        Raises `ConfigError` on a model that decodes nothing, in half precision and on a family in
        which masks leave no token out, `InterventionError` if only the weights are known.
        """
        if not self.decodes:
            raise ConfigError("no_next_tokens", name=self.name)
        refuse_weights_only(self.facts)
        self._refuse_half_precision()
        inputs, size, special = self._inputs_of(of), self.tokens.size, self.tokens.special_ids
        ids = [one for one in reversed(range(size)) if one not in special]
        refuse_leaks(self.passes, inputs, ids)
        return library_left_out(self.passes, inputs)

    def rerun(
        self,
        of: Trace | EvaluationBatch,
        actions: Actions = NO_ACTIONS,
        readers: Readers = NO_READERS,
        copies: int = 1,
    ) -> RowLogits:
        """See `measurable.MeasurableModel`."""
        return self.passes.run_on(self._inputs_of(of), actions, readers, copies)

    def _edits(self, changes: Interventions, means: MeanOutputs | None) -> Edits:
        return edits_of(self.anatomy, self.passes.changed_by(changes, means))

    @cached_property
    def passes(self) -> LibraryPasses:
        """Passes over batches of sentences, for measurements of heads."""
        return LibraryPasses(self.model, self.anatomy, self.tokens, self.positions, self._settings)

    def in_languages(self, source: str | None = None, target: str | None = None) -> Self:
        """The same model, with shared weights, for a source and a target language.

        None = the language of the tokenizer and the configs. Codes are the tokenizer's own,
        `tokens.languages`. Raises `ConfigError` on any other code, and for a model without codes.
        """
        known, tokens = self.tokens.languages, self.tokens
        if source is not None:
            checked_language(source, known, "source_language")
            tokens = tokens.in_language(source)
        if target is not None:
            checked_language(target, known, "target_language")
        return replace(self, tokens=tokens, target_language=target or self.target_language)

    def read(
        self,
        text: str | None = None,
        pair: str | None = None,
        messages: Sequence[Message] | None = None,
    ) -> TextTokens:
        """The tokens of the input of `trace`. Raises the same errors as `trace`."""
        refuse_no_input(text, pair, messages)
        if messages is not None:
            return self.tokens.chat(messages)
        if pair is not None and self.decodes:
            raise ConfigError("no_pair")
        assert text is not None
        return self.tokens.read(text, pair)

    def _traced(self, options: TraceOptions) -> Trace:
        (trace,) = self._captured([self._prepared(options)])
        return trace

    @torch.inference_mode()
    def _prepared(self, options: TraceOptions, *, batched: bool = False) -> PreparedText:
        """The text of `options`, decoded. batched: if its tokens are known, without decoding."""
        self._refuse(options)
        edits = self._edits(options.interventions, options.means)
        spoken = self.in_languages(options.source_language, options.target_language)
        read = spoken.read(options.text, options.pair, options.messages)
        inputs, labels = spoken._inputs(read, options.pad_to)
        decoded, last = Decoded(inputs, forced=options.force), inputs.lengths[1]
        if self.decodes:
            forced = spoken._forced(inputs, options)
            last = self._last_step(inputs, len(forced), options.max_new_tokens)
        sizes = self.anatomy.sizes(inputs.lengths[0], last, full=options.full)
        recording = Recording(self.anatomy, options.choice.within(sizes), full=options.full)
        if not self.anatomy.head.body:
            refuse_logits(last or inputs.lengths[0], self.anatomy.head.width)
        if self.decodes:
            rules = spoken._settings.rules(self.kind, inputs.lengths[1], last, forced)
            rules = replace(rules, drawing=options.interventions.draw)
            kind = _kind_of_call(options, inputs, rules.known is not None)
            checked = not batched and self._checks(options, kind)
            decoded = spoken._decode(inputs, edits, recording, forced, rules, stepwise=checked)
        facts = {"model": self.name, **spoken.facts, **_facts_of_input(options, read, inputs)}
        facts["given"] = options.target is not None
        if options.check != "always":
            facts["check"] = options.check
        facts |= layer_facts(sizes, recording.places) | options.changes
        size = sum(len(site.numbers) * site.layer_bytes for site in sizes.values())
        return PreparedText(options, read, labels, decoded, recording, edits, facts, size, batched)

    def _refuse(self, options: TraceOptions) -> None:
        """Raise `ConfigError` and `InterventionError` on options that this model does not have."""
        if options.interventions.omit:
            raise ConfigError("no_omission", name=self.name)
        if options.interventions.draw and not self.decodes:
            raise ConfigError("draws_nothing", name=self.name)
        forces = options.forces
        if self.kind == Kind.ENCODER_ONLY:
            refuse_decoding(options.target, options.prefix, options.max_new_tokens)
        elif not self.decodes and forces:
            raise ConfigError("decodes_nothing", architecture=type(self.model).__name__)
        if options.interventions or options.full:
            refuse_weights_only(self.facts)

    def _checks(self, options: TraceOptions, kind: Hashable) -> bool:
        """Whether further passes check a call of this kind."""
        if options.check == "once":
            return kind not in self._proven
        return options.check == "always"

    @cached_property
    def _proven(self) -> set[Hashable]:
        """The kinds of calls that a first text has proved."""
        return set()

    @torch.inference_mode()
    def _captured(self, texts: Sequence[PreparedText]) -> list[Trace]:
        """Capture one pass over texts of equal lengths and options, and assemble their traces."""
        first, count = texts[0], len(texts)
        options, edits = first.options, first.edits
        inputs = Inputs.joined([text.decoded.inputs for text in texts])
        recordings = [text.recording for text in texts]
        known = first.decoded.rules is not None
        kind = _kind_of_call(options, inputs, known, batched=first.batched)
        checked = self._checks(options, kind)
        with threads_for(self.passes.parameters, count * max(inputs.lengths)):
            seen = Recording.of_each([one.keep() for one in recordings])
            captured = self._pass(inputs, edits, seen, first.decoded.memory)
            for own in recordings:
                refuse_misplaced(options.interventions, *inputs.lengths, own.unmasked)
            found = captured.logits.each(count)
            plain: Sequence[RowLogits | None] = [None] * count
            if checked:
                returned = self.anatomy.weights_only
                again = Recording.of_each([one.compare() for one in recordings])
                plain = self._pass(inputs, edits, NOBODY if returned else again).logits.each(count)
            traces = [
                self._assembled(text, logits, expected)
                for text, logits, expected in zip(texts, found, plain, strict=True)
            ]
        if checked and all(proves(trace.measured, trace.facts) for trace in traces):
            self._proven.add(kind)
        return traces

    def _assembled(self, text: PreparedText, captured: RowLogits, plain: RowLogits | None) -> Trace:
        """The trace of a text after its pass.

        captured: logits of that pass. plain: of a second one that checks it; None without one.
        """
        options, recording, decoded = text.options, text.recording, text.decoded.completed(captured)
        inputs, interventions = decoded.inputs, options.interventions
        facts = text.facts | decoded.facts(self.kind, self._settings.ends)
        stepwise = decoded.stepwise and not interventions.counterfactual
        outputs = decoded.logits if stepwise else captured
        ends = self._settings.ends
        predictions = Predictions(self.kind, self.tokens, decoded, text.labels, outputs, ends)
        steps, candidates = predictions.steps()
        said = predictions.text()
        if self.answer is not None:
            logits, padding = captured.whole()[0], inputs.padding_before
            if len(logits) > padding:  # one output for each token
                logits = logits[padding:]
            answer = answered(self.model, logits, text.read, self.tokens.no_text).behind(padding)
            said, steps, facts = answer.text, steps | answer.arrays, facts | answer.facts
        early: dict[str, NDArray[Any]] = {}
        if options.full and self.decodes:
            layers = recording.places.get("decoder", ())
            given = (self.model, self.anatomy, inputs, text.edits, layers, self.tokens)
            early, told = early_predictions(*given)
            facts = facts | told
        return Trace(
            source_tokens=predictions.source_labels(),
            target_tokens=predictions.target_labels(),
            predicted_tokens=predictions.predicted_labels(),
            text=said,
            arrays=recording.finished(inputs, interventions) | early | steps,
            candidate_tokens=candidates,
            measured={} if plain is None else self._measured(text, captured, plain),
            facts=facts,
        )

    def _measured(
        self, text: PreparedText, captured: RowLogits, plain: RowLogits
    ) -> dict[str, float]:
        """The errors of a trace that its model measures. plain: logits of a second pass."""
        inputs = text.decoded.inputs
        measured = measured_errors(captured, plain, text.decoded)
        if not self.anatomy.weights_only:
            measured |= {"equals_library": text.recording.difference}
        if inputs.padded and not text.options.interventions:
            bare = self._pass(inputs.without_padding()).logits
            measured |= padding_error(plain, bare, inputs)
        return measured

    def _pass(
        self,
        inputs: Inputs,
        edits: Edits | None = None,
        seen: Mapping[str, Seen] = NOBODY,
        memory: Any = None,
    ) -> Pass:
        """`full_pass` with this model, its anatomy and its head."""
        head = self.anatomy.head
        return full_pass(
            self.model, self.anatomy, inputs, edits, seen=seen, memory=memory, head=head
        )

    def traces(self, texts: Sequence[str]) -> list[Trace]:
        """The trace of each text, one after another."""
        return [self.trace(text) for text in texts]

    def iter_traces(
        self, texts: Iterable[str], targets: Iterable[str] | None = None
    ) -> Iterator[Trace]:
        """The traces of many texts, in their order: one pass captures several of equal lengths.

        >>> for trace in model.iter_traces(sentences):
        ...     print(trace.text, trace.attention("encoder")[0, 0])

        targets: the whole output of each text, for teacher forcing. A model that decodes traces the
            texts one by one without them, and so does a classifier with a decoder alone.

        Tokens and masks are those of `trace`, weights and probabilities equal to rounding;
        `facts["batched"]` is the number of texts in the pass. Only the first batch is checked, as
        by `check="once"`. Few traces are in memory at a time: about 256 MB of attention.

        Raises as `trace` at the text that it cannot trace, and `VocabularyError` on texts that
        are no list or iterator of texts, and on more or fewer targets.
        """
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            raise VocabularyError("not_texts", got=type(texts).__name__)
        if targets is None and (self.decodes or self.kind == Kind.DECODER_ONLY):
            yield from map(self.trace, texts)
            return
        pairs = ((text, None) for text in texts) if targets is None else _pairs(texts, targets)
        every = (TraceOptions.of_text(text, target) for text, target in pairs)
        for window in windows(self._prepared(options, batched=True) for options in every):
            found: dict[int, Trace] = {}
            for numbers in batches(window, self.anatomy.head.width):
                batch = [window[number] for number in numbers]
                for text in batch:
                    text.facts["batched"] = len(batch)
                found |= zip(numbers, self._captured(batch), strict=True)
            yield from (found[number] for number in range(len(window)))

    def check_text(self, text: str, side: Literal["source", "target"]) -> None:
        """Raise `VocabularyError` on a text that cannot be read or is too long, and
        `EvaluationBatchError` on a target for a decoder alone.

        A model that decodes nothing reads its second text like its first one.
        """
        if side == "target" and self.decodes and self.kind != Kind.ENCODER_DECODER:
            raise EvaluationBatchError("pairs_refused")
        is_source = side == "source" or not self.decodes
        ids = self.tokens.source(text)[0] if is_source else self.tokens.target(text)
        if self.positions is not None and len(ids) > self.positions:
            key = TOO_LONG[self.kind] if is_source else "long_target"
            raise VocabularyError(key, got=len(ids), limit=self.positions)

    def _inputs(self, read: TextTokens, pad_to: int | None) -> tuple[Inputs, tuple[str, ...]]:
        """The padded inputs before decoding, and their labels."""
        ids, labels = read.ids, read.labels
        decoder_only = self.kind == Kind.DECODER_ONLY
        limit = self.positions
        if limit is not None and len(ids) > (most := limit - (decoder_only and self.decodes)):
            raise VocabularyError(TOO_LONG[self.kind], got=len(ids), limit=most)
        if pad_to is not None and not len(ids) <= pad_to <= (limit or pad_to):
            facts = {"pad_to": pad_to, "length": len(ids), "limit": limit or "∞"}
            raise ConfigError("bad_padding", **facts)
        count = (pad_to or len(ids)) - len(ids)
        pad = self._settings.padding(self.tokens.pad_id)
        segments = read.segments if self.has_segments else None
        inputs = padded_inputs(self.kind, ids, [pad] * count, self._settings.start, segments)
        if self.kind == Kind.ENCODER_DECODER and not self.decodes:
            inputs = fed(self.model, inputs)
        padding = (self.tokens.padding_label(pad),) * count
        return inputs, (*padding, *labels) if decoder_only else (*labels, *padding)

    def _inputs_of(self, of: Trace | EvaluationBatch) -> Inputs:
        """The inputs of the last pass of a trace of this model, or of a batch."""
        if isinstance(of, EvaluationBatch):
            return inputs_of(of)
        facts = of.facts
        given = input_of(facts)
        source, target = (given.pop(f"{side}_language", None) for side in ("source", "target"))
        spoken = self.in_languages(source, target)
        inputs, _ = spoken._inputs(spoken.read(**given), facts["pad_to"])
        if not of.predicted_tokens:
            return inputs
        steps = of.steps()
        chosen = steps[steps.chosen & (steps.step >= inputs.lengths[1])].id
        return inputs.with_target(chosen.tolist()[:-1])

    def _refuse_half_precision(self) -> None:
        if self.model.dtype != torch.float32:
            raise ConfigError("half_precision", name=self.name)

    def _forced(self, inputs: Inputs, options: TraceOptions) -> Mapping[int, int]:
        """Step → the id its token must have."""
        text = options.prefix if options.target is None else options.target
        first = inputs.lengths[1]
        if text is None:
            return checked_steps(options.force, first, self.tokens.size)
        ids = self.tokens.target(text)
        if self.kind == Kind.ENCODER_DECODER:
            ids = self._settings.with_first(ids)
        if options.target is not None:
            ids += sorted(self._settings.ends)[:1]
        return numbered_steps(ids, first, self.positions)

    def _last_step(self, inputs: Inputs, forced: int, most: int | None) -> int:
        """The last decoding step after `inputs`: `most` tokens, or all forced ones if more."""
        new = max(NEW_TOKENS[self.kind] if most is None else most, forced)
        last = inputs.lengths[1] + new - 1
        return last if self.positions is None else min(last, self.positions)

    def _decode(
        self,
        inputs: Inputs,
        edits: Edits,
        recording: Recording,
        forced: Mapping[int, int],
        rules: DecodingRules,
        *,
        stepwise: bool,
    ) -> Decoded:
        """Decode step by step after `inputs`, and record the encoder.

        stepwise: False = not if all tokens but the last are known.
        """
        first, known = rules.first, rules.known
        if known is not None and not stepwise:
            _refuse_after(forced, first + len(known))
            return Decoded(inputs.with_target(known), forced=forced, rules=rules)
        with threads_for(self.passes.parameters, inputs.lengths[0]):
            memory = encoded(self.model, self.anatomy, inputs, edits, recording.keep())
        with threads_for(self.passes.parameters, first):
            head = self.anatomy.head
            rows = greedy_rows(self.model, self.kind, inputs, edits, rules, memory, head)
            found = self._decoded_rows(rows)
        _refuse_after(forced, first + len(found) - 1)
        logits = RowLogits.joined([logits for logits, _ in found])
        chosen = [int(tokens) for _, tokens in found]
        fed, chooses = inputs.with_target(chosen[:-1]), None if known is None else rules
        return Decoded(fed, logits, chosen, forced, memory, chooses)

    def _decoded_rows(
        self, rows: Iterator[tuple[RowLogits, Tensor]]
    ) -> list[tuple[RowLogits, Tensor]]:
        """All steps of decoding. Raises `ModelDirectoryError` if the library cannot decode."""
        try:
            return list(rows)
        except (IndexError, TypeError, ValueError, RuntimeError, AttributeError) as error:
            reason = str(error).strip().split("\n")[0][:160] or type(error).__name__
            facts = {"architecture": type(self.model).__name__, "reason": reason}
            raise ModelDirectoryError("cannot_decode", **facts) from error

    @cached_property
    def answer(self) -> PredictionKind | None:
        """Kind of prediction of a model without next-token output, or None for other models."""
        return None if self.decodes else answer_of(self.model)

    @cached_property
    def decodes(self) -> bool:
        """Whether it predicts next tokens; a classifier with a decoder does not."""
        return decodes(self.model, self.kind)

    @cached_property
    def has_segments(self) -> bool:
        """Whether it takes segments: which of two texts each token is in."""
        return takes_segments(self.model, self.kind)

    @property
    def _mask_token(self) -> str | None:
        """The mask token of a model that fills in masks, or None for other models."""
        fills = self.kind == Kind.ENCODER_ONLY and self.model.get_output_embeddings() is not None
        mask = self.tokens.mask_id if fills else None
        return None if mask is None else self.tokens.label(mask)

    @cached_property
    def _settings(self) -> GenerationSettings:
        known = self.tokens.languages
        chosen = None if self.target_language is None else known[self.target_language]
        return GenerationSettings(
            self.model, self.tokens.size, frozenset(known.values()), language=chosen
        )

    @property
    def _written_language(self) -> str | None:
        """Code of the language that its output begins with, or None if the model chooses."""
        codes = {number: code for code, number in self.tokens.languages.items()}
        found = (self._settings.first, self._settings.start)
        return next((codes[number] for number in found if number in codes), None)


def _kind_of_call(
    options: TraceOptions, inputs: Inputs, known: bool, *, batched: bool = False
) -> Hashable:
    """What a call shares with all those for which one proof is enough.

    known: whether its tokens are, so that nothing is decoded.
    """
    return options.shape, inputs.padded, known, batched


def _pairs(texts: Iterable[str], targets: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Texts with their targets. Raises `VocabularyError` if one of them has no other."""
    for text, target in zip_longest(texts, targets):
        if text is None or target is None:
            raise VocabularyError("target_each")
        yield text, target


def _refuse_after(forced: Mapping[int, int], last: int) -> None:
    """Raise `VocabularyError` on an imposed token after the `last` step."""
    if forced and max(forced) > last:
        raise VocabularyError("no_such_step", step=max(forced), last=last)


def _facts_of_input(options: TraceOptions, read: TextTokens, inputs: Inputs) -> dict[str, Any]:
    """Facts of a trace about the text, the chat or the pair that was read."""
    facts: dict[str, Any] = {"text": valid_text(read.texts[0]), "pad_to": options.pad_to}
    if options.messages is not None:
        facts["messages"] = [dict(one) for one in options.messages]
    if options.pair is not None:
        facts["pair"] = valid_text(options.pair)
        facts |= {"second": read.second} if inputs.source is not None else {}
    return facts
