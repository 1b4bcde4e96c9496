"""Batches of sentences as the three kinds of models read them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any, TypeAlias

import torch
from torch import Tensor

from explorer.core.errors import ConfigError, EvaluationBatchError, VocabularyError
from explorer.core.vocabulary import shorten
from explorer.model.evaluation_batch import (
    PART_SIZE,
    REPEATED_BLOCK,
    EvaluationBatch,
    Targets,
    TokenKind,
    TokenRows,
    repeated_batch,
    teacher_forced,
)
from explorer.model.huggingface.anatomy import Anatomy, Kind
from explorer.model.huggingface.capture.edits import Edits
from explorer.model.huggingface.capture.passes import encoded, greedy_rows
from explorer.model.huggingface.class_labels import Classes
from explorer.model.huggingface.decoding import NEW_TOKENS
from explorer.model.huggingface.fed_text import decodes, fed
from explorer.model.huggingface.generation_settings import GenerationSettings
from explorer.model.huggingface.inputs import TOO_LONG, Inputs, takes_segments
from explorer.model.huggingface.tokens import TextTokens, Tokens
from explorer.model.threads import threads_for

Texts: TypeAlias = Sequence[str] | Sequence[tuple[str, str]]

MASKED = 0.15
"""Share of the content of a text that is masked, at least one token. Source: Devlin et al. 2019,
arXiv 1810.04805, whose random replacements are left out."""


@dataclass(frozen=True)
class BatchTexts:
    """Texts → ids with the expected predictions; the methods are those of `measurable.BatchPasses`.

    positions: the most tokens of a sequence; None without a limit.
    """

    model: Any
    anatomy: Anatomy
    tokens: Tokens
    positions: int | None
    settings: GenerationSettings

    @property
    def kind(self) -> Kind:
        return self.anatomy.kind

    @cached_property
    def decodes(self) -> bool:
        return decodes(self.model, self.kind)

    @cached_property
    def classes(self) -> Classes:
        return Classes.of(self.model)

    @cached_property
    def predicts_tokens(self) -> bool:
        """Whether the model predicts tokens: an encoder alone may have no head for it."""
        if self.kind != Kind.ENCODER_ONLY:
            return self.decodes
        return self.tokens.mask_id is not None and self.model.get_output_embeddings() is not None

    def pairs(self, pairs: Sequence[tuple[str, str]], name: str) -> EvaluationBatch:
        """Sources with given targets; for a model without decoding, each pair as one text, with the
        labels of `texts`.

        Raises `VocabularyError`, `EvaluationBatchError` for a decoder alone, and `ConfigError` if
        the tokenizer cannot join two texts.
        """
        if not self.decodes:
            return self._that_are_read(pairs, name)
        if self.kind != Kind.ENCODER_DECODER:
            raise EvaluationBatchError("pairs_refused")
        start, ends = self.settings.start, sorted(self.settings.ends)[:1]
        outputs = [self.settings.with_first(self.tokens.target(text)) for _, text in pairs]
        targets = [[start, *ids, *ends] for ids in outputs]
        self._refuse_long(targets, "long_target")
        return self._forced(self._ids([source for source, _ in pairs]), targets, name, "given")

    def texts(self, texts: Sequence[str], name: str, seed: int = 0) -> EvaluationBatch:
        """Texts with the expected predictions. Raises `VocabularyError`.

        These are the greedy output of an encoder–decoder model; the next tokens of the text for a
        decoder alone; the masked tokens, chosen at random from `seed`, for an encoder alone; none
        if the model predicts no tokens.
        """
        if not self.decodes:
            return self._that_are_read(texts, name, seed)
        ids = self._ids(texts)
        if self.kind == Kind.DECODER_ONLY:
            rows = self._rows(ids)
            return EvaluationBatch(None, rows, rows.shifted(), name, "next")
        targets: list[list[int]] = []
        for first in range(0, len(ids), PART_SIZE):
            targets += self._decoded(ids[first : first + PART_SIZE])
        return self._forced(ids, targets, name, "greedy")

    def _that_are_read(self, texts: Texts, name: str, seed: int = 0) -> EvaluationBatch:
        """Texts, or pairs read as one text, for a model that decodes nothing.

        An encoder that fills in masks gets them with masked tokens to predict, any other model with
        nothing to predict.
        """
        read = self._read(texts)
        rows = self._rows([one.ids for one in read])
        if self.kind != Kind.ENCODER_ONLY:
            nothing = TokenRows(rows.ids, torch.full_like(rows.kinds, TokenKind.PADDING))
            return EvaluationBatch(*self._sides(rows), nothing, name, "none")
        hidden = torch.zeros_like(rows.ids, dtype=torch.bool)
        if self.predicts_tokens:
            hidden = _drawn(rows, torch.Generator().manual_seed(seed))
        labels = TokenRows(rows.ids, rows.kinds.masked_fill(~hidden, TokenKind.PADDING))
        source = TokenRows(rows.ids.masked_fill(hidden, self.tokens.mask_id or 0), rows.kinds)
        targets: Targets = "masked" if self.predicts_tokens else "none"
        segments = self._segments(read, rows.ids.size(1))
        return EvaluationBatch(source, None, labels, name, targets, segments=segments)

    def _sides(self, rows: TokenRows) -> tuple[TokenRows | None, TokenRows | None]:
        """Rows for the encoder and for the decoder, None for a missing stack.

        Only for models with one stack and for classifiers with both.
        """
        if self.kind == Kind.ENCODER_ONLY:
            return rows, None
        if self.kind == Kind.DECODER_ONLY:
            return None, rows
        own = [
            fed(self.model, Inputs(ids[None], real[None].long())).target
            for ids, real in zip(rows.ids, rows.real, strict=True)
        ]
        ids = torch.cat([target for target in own if target is not None])
        kinds = torch.tensor([[self._kind_of(token) for token in row] for row in ids.tolist()])
        kinds = kinds.to(rows.kinds).masked_fill(~rows.real, TokenKind.PADDING)
        return rows, TokenRows(ids, kinds)

    def labelled(self, texts: Texts, labels: Sequence[Any], name: str) -> EvaluationBatch:
        """Texts, or pairs, each with its class, or with the tags of its words.

        Raises `EvaluationBatchError` if the model has no classes, or if the library finds the end
        of a text in a decoder by its padding and the model has no padding token.
        """
        classes = self.classes
        if not classes.count:
            raise EvaluationBatchError("no_labels")
        self._refuse_no_padding()
        read = self._read(texts)
        found = [classes.of_text(label, one) for one, label in zip(read, labels, strict=True)]
        return self._classified(read, found, name, "labels", each_token=classes.of_tokens)

    def continued(self, texts: Texts, name: str) -> EvaluationBatch:
        """Unchanged texts; exactly one row of each is real among the labels: the last row, the row
        of its mask, or the row of its class. Raises `EvaluationBatchError`."""
        of_text = bool(self.classes.count) and not self.classes.of_tokens
        if of_text:
            self._refuse_no_padding()
        elif self.kind == Kind.ENCODER_DECODER or not self.predicts_tokens:
            raise EvaluationBatchError("not_continued")
        read = self._read(texts)
        if of_text:
            rows = [0] * len(read)
        elif self.kind == Kind.ENCODER_ONLY:
            rows = [self._mask(one) for one in read]
        else:
            rows = [len(one.ids) - 1 for one in read]
        return self._classified(
            read, [{row: 0} for row in rows], name, "none", each_token=not of_text
        )

    def begun(
        self, texts: Sequence[str], prefixes: Sequence[str | None], name: str
    ) -> EvaluationBatch:
        """As `continued`, also for a model that translates, with the beginning of the output of
        each text. Raises `ConfigError` on one for a model that decodes nothing."""
        outputs = [[] if prefix is None else self.tokens.target(prefix) for prefix in prefixes]
        if not self.decodes:
            if any(prefix is not None for prefix in prefixes):
                raise ConfigError("no_decoder")
            return self.continued(texts, name)
        ids, source = self._ids(texts), None
        if self.kind == Kind.ENCODER_DECODER:
            source, start = self._rows(ids), self.settings.start
            ids = [[start] for _ in texts]
            outputs = [self.settings.with_first(output) for output in outputs]
        fed = [[*before, *output] for before, output in zip(ids, outputs, strict=True)]
        self._refuse_long(fed, "long_target")
        rows = self._rows(fed)
        return EvaluationBatch(source, rows, rows.only_last(), name, "none")

    def repeated(self, size: int, seed: int) -> EvaluationBatch:
        """Sequences of random tokens, after the specials that the tokenizer puts before a text.
        Raises `EvaluationBatchError` unless it is a decoder alone."""
        if self.kind != Kind.DECODER_ONLY or not self.decodes:
            raise EvaluationBatchError("not_repeated")
        content = [number for number in range(self.tokens.size) if number not in self._special]
        some = self.tokens.source(self.tokens.label(content[0]))[0] if self.tokens.tokenizer else ()
        prefix = list(takewhile(self._special.__contains__, some))
        room = REPEATED_BLOCK if self.positions is None else (self.positions - len(prefix)) // 2
        block = min(REPEATED_BLOCK, room)
        return repeated_batch(self._rows, prefix, content, size, block, seed)

    def _refuse_no_padding(self) -> None:
        """Raise `EvaluationBatchError` without a padding token; see `labelled`."""
        ends_by_padding = self.kind == Kind.DECODER_ONLY and not self.classes.of_tokens
        if ends_by_padding and self.model.config.get_text_config().pad_token_id is None:
            raise EvaluationBatchError("labels_need_padding")

    def _classified(
        self,
        read: Sequence[TextTokens],
        found: Sequence[Mapping[int, int]],
        name: str,
        targets: Targets,
        *,
        each_token: bool,
    ) -> EvaluationBatch:
        """The batch of texts with their labels.

        found: for each text, row → label, as `Classes.of_text` returns it; the other rows are
        padding. each_token: there is a row for each token, else one for each text.
        """
        rows = self._rows([one.ids for one in read])
        axis = rows.ids.size(1) if each_token else 1
        ids = torch.zeros(len(read), axis, dtype=torch.long)
        kinds = torch.full((len(read), axis), int(TokenKind.PADDING), dtype=torch.uint8)
        for number, of_rows in enumerate(found):
            for row, own in of_rows.items():
                ids[number, row], kinds[number, row] = own, TokenKind.CONTENT
        segments = self._segments(read, rows.ids.size(1))
        labels = TokenRows(ids, kinds)
        return EvaluationBatch(*self._sides(rows), labels, name, targets, segments=segments)

    def _mask(self, read: TextTokens) -> int:
        """Position of the one mask in a text. Raises `EvaluationBatchError` unless just one."""
        places = [place for place, one in enumerate(read.ids) if one == self.tokens.mask_id]
        if len(places) != 1:
            mask = self.tokens.label(self.tokens.mask_id or 0)
            text = shorten(read.texts[0])
            raise EvaluationBatchError("one_mask", text=text, mask=mask, count=len(places))
        return places[0]

    def _read(self, texts: Texts) -> list[TextTokens]:
        """The tokenized texts. Raises `VocabularyError` on a text that is too long, and the errors
        of `Tokens.read`."""
        given = [(text, None) if isinstance(text, str) else text for text in texts]
        read = [self.tokens.read(text, pair) for text, pair in given]
        self._refuse_long([one.ids for one in read], TOO_LONG[self.kind])
        return read

    def _segments(self, read: Sequence[TextTokens], longest: int) -> Tensor | None:
        """(N, S) which of two texts each token is in, or None if the model takes no segments."""
        known = [list(one.segments or ()) for one in read]
        if not any(known) or not takes_segments(self.model, self.kind):
            return None
        return torch.tensor([[*own, *[0] * (longest - len(own))] for own in known])

    def _forced(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        name: str,
        kind: Any,
    ) -> EvaluationBatch:
        queries, labels = teacher_forced(self._rows(targets), self._padding)
        return EvaluationBatch(self._rows(sources), queries, labels, name, kind)

    def _rows(self, rows: Sequence[Sequence[int]]) -> TokenRows:
        return TokenRows.of(rows, self._kind_of, self._padding)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        rows = [self.tokens.source(text)[0] for text in texts]
        self._refuse_long(rows, TOO_LONG[self.kind])
        return rows

    def _refuse_long(self, rows: Sequence[Sequence[int]], key: str) -> None:
        longest = max(map(len, rows), default=0)
        if self.positions is not None and longest > self.positions:
            raise VocabularyError(key, got=longest, limit=self.positions)

    @torch.inference_mode()
    def _decoded(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Greedy outputs, start and end included."""
        rows, start = self._rows(sources), self.settings.start
        target = torch.full((len(rows), 1), start)
        inputs = Inputs(rows.ids, rows.real.long(), target, torch.ones_like(target))
        last = min(NEW_TOKENS[self.kind], self.positions or NEW_TOKENS[self.kind])
        rules = self.settings.rules(self.kind, 1, last, {})
        edits = Edits({}, {})
        with threads_for(int(self.model.num_parameters()), len(rows)):
            memory = encoded(self.model, Anatomy(self.kind), inputs, edits)
            steps = greedy_rows(self.model, self.kind, inputs, edits, rules, memory)
            decoded = torch.stack([tokens for _, tokens in steps], 1).tolist()
        return [[start, *self._until_end(row)] for row in decoded]

    def _until_end(self, row: list[int]) -> list[int]:
        ends = [place for place, token in enumerate(row) if token in self.settings.ends]
        return row[: ends[0] + 1] if ends else row

    def _kind_of(self, token: int) -> TokenKind:
        if token in self._ends:
            return TokenKind.END
        return TokenKind.SPECIAL if token in self._special else TokenKind.CONTENT

    @cached_property
    def _padding(self) -> int:
        return self.settings.padding(self.tokens.pad_id)

    @cached_property
    def _ends(self) -> frozenset[int]:
        """Ids that end a text; a separator may be one."""
        return self.settings.ends | self.tokens.named("sep_token_id", "eos_token_id")

    @cached_property
    def _special(self) -> frozenset[int]:
        """Ids that are not content. Mask and unknown tokens count as content."""
        content = self.tokens.named("mask_token_id", "unk_token_id")
        return (self.tokens.special_ids | self.settings.special) - content


def _drawn(rows: TokenRows, generator: torch.Generator) -> torch.Tensor:
    """(N, L) True for the content that is masked."""
    hidden = torch.zeros_like(rows.ids, dtype=torch.bool)
    for number, special in enumerate(rows.special):
        content = (~special).nonzero()[:, 0]
        count = max(1, round(MASKED * len(content)))
        order = torch.randperm(len(content), generator=generator)
        hidden[number, content[order[:count]]] = True
    return hidden
