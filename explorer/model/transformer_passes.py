"""Teacher-forced passes of a model trained here over batches of sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import torch
from torch import Tensor

from explorer.core.errors import ConfigError, EvaluationBatchError, VocabularyError
from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.core.vocabulary import BOS, EOS, PAD, SPECIALS, shorten
from explorer.data.continued_data import AlignedTask
from explorer.model.actions import MeanOutputs
from explorer.model.checkpoint import Checkpoint
from explorer.model.config import ModelConfig
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
from explorer.model.greedy_decoding import greedy
from explorer.model.measurable import BatchPasses
from explorer.model.points import (
    ATTENTION_KINDS,
    KINDS,
    NO_ACTIONS,
    NO_READERS,
    STACK_KINDS,
    Actions,
    Point,
    Readers,
)
from explorer.model.row_logits import RowLogits
from explorer.model.threads import threads_for
from explorer.model.transformer import Transformer
from explorer.model.transformer_run import run, transformer_actions

_KINDS = {PAD: TokenKind.PADDING, BOS: TokenKind.SPECIAL, EOS: TokenKind.END}


@dataclass(frozen=True)
class TransformerPasses(BatchPasses):
    """See `measurable.BatchPasses`."""

    checkpoint: Checkpoint

    @property
    def heads(self) -> tuple[Head, ...]:
        return self._config.all_heads

    @property
    def parameters(self) -> int:
        return self._config.parameters

    @property
    def logits_size(self) -> int:
        return self._config.target_vocabulary

    @property
    def predicts_tokens(self) -> bool:
        return True

    def pairs(self, pairs: Sequence[tuple[str, str]], name: str) -> EvaluationBatch:
        """Sources with given targets. Raises `VocabularyError` on a text that is too long, and
        `EvaluationBatchError` for a decoder alone."""
        if self._config.decoder_only:
            raise EvaluationBatchError("pairs_refused")
        sources = [self.checkpoint.ids(source, "source") for source, _ in pairs]
        targets = [[BOS, *self.checkpoint.ids(target, "target")] for _, target in pairs]
        return forced_batch(sources, targets, name)

    def texts(self, texts: Sequence[str], name: str, seed: int = 0) -> EvaluationBatch:
        """Texts with the model's greedy output as targets, or for a decoder alone with the next
        tokens of the text; `seed` has no effect."""
        if self._config.decoder_only:
            rows = self._prompts(texts)
            return EvaluationBatch(None, rows, rows.shifted(), name, "next")
        sources = [self.checkpoint.ids(text, "source") for text in texts]
        targets: list[list[int]] = []
        for start in range(0, len(sources), PART_SIZE):
            part = token_rows(sources[start : start + PART_SIZE]).ids.to(self._transformer.device)
            # Each step decodes one token per sentence.
            with torch.inference_mode(), threads_for(self.parameters, len(part)):
                decoded = greedy(self._transformer, part, self._config.max_length).tolist()
            targets += [[BOS, *(token for token in row if token != PAD)] for row in decoded]
        return forced_batch(sources, targets, name, "greedy")

    def labelled(
        self, texts: Sequence[str] | Sequence[tuple[str, str]], labels: Sequence[Any], name: str
    ) -> NoReturn:
        """Raises `EvaluationBatchError`: these models predict tokens."""
        raise EvaluationBatchError("no_labels")

    def continued(
        self, texts: Sequence[str] | Sequence[tuple[str, str]], name: str
    ) -> EvaluationBatch:
        """Texts of a decoder alone, whose last rows predict. Raises `EvaluationBatchError` for
        models with both stacks, and `ConfigError` on a pair."""
        if not self._config.decoder_only:
            raise EvaluationBatchError("not_continued")
        single = [text for text in texts if isinstance(text, str)]
        if len(single) < len(texts):
            raise ConfigError("no_pair")
        return self.begun(single, [None] * len(single), name)

    def begun(
        self, texts: Sequence[str], prefixes: Sequence[str | None], name: str
    ) -> EvaluationBatch:
        """See `measurable.BatchPasses`; the last row of each text predicts."""
        read = [self.checkpoint.read(text) for text in texts]
        fed = [
            [BOS, *prompt, *self._prefix(prefix, len(prompt))]
            for (_, prompt), prefix in zip(read, prefixes, strict=True)
        ]
        source = None if self._config.decoder_only else token_rows([ids for ids, _ in read])
        rows = token_rows(fed)
        return EvaluationBatch(source, rows, rows.only_last(), name, "none")

    def _prefix(self, prefix: str | None, prompt: int) -> list[int]:
        """Ids of the beginning of an output, after so many tokens of the prompt."""
        if prefix is None:
            return []
        ids = self.checkpoint.target_vocabulary.encode(prefix)
        most = self._config.max_length - 1 - prompt
        if len(ids) > most:
            raise VocabularyError("long_target", got=len(ids), limit=most)
        return ids

    def repeated(self, size: int, seed: int) -> EvaluationBatch:
        """See `measurable.BatchPasses`; no sequence is longer than those of the training."""
        if not self._config.decoder_only:
            raise EvaluationBatchError("not_repeated")
        content = range(len(SPECIALS), self._config.target_vocabulary)
        longest = self.checkpoint.facts.get("longest")
        most = longest if isinstance(longest, int) and longest > 1 else self._config.max_length - 1
        block = min(REPEATED_BLOCK, most // 2, (self._config.max_length - 1) // 2)
        return repeated_batch(token_rows, [BOS], content, size, block, seed)

    def logit(self, named: str | int) -> int:
        """See `measurable.BatchPasses`."""
        if not isinstance(named, str):
            raise EvaluationBatchError("no_token", got=type(named).__name__)
        ids = self.checkpoint.target_vocabulary.encode(named)
        if len(ids) != 1:
            raise VocabularyError("several_tokens", text=shorten(named), count=len(ids))
        return ids[0]

    def labels(self, ids: Sequence[int], side: Literal["source", "target"]) -> tuple[str, ...]:
        source, target = self.checkpoint.source_vocabulary, self.checkpoint.target_vocabulary
        return (source if side == "source" else target).labels(ids)

    def run(
        self,
        batch: EvaluationBatch,
        actions: Actions = NO_ACTIONS,
        readers: Readers = NO_READERS,
        copies: int = 1,
        *,
        predicts: bool = True,
    ) -> RowLogits:
        source, target = (side.ids.to(self._transformer.device) for side in fed_sides(batch))
        return run(self._transformer, source, target, actions, readers, copies)

    def changed_by(self, interventions: Interventions, means: MeanOutputs | None) -> Actions:
        return transformer_actions(interventions, self._config, means)

    changed_kinds = read_kinds = KINDS

    def points(self, kind: str) -> tuple[Point, ...]:
        stacks = {"encoder": self._config.encoder_layers, "decoder": self._config.decoder_layers}
        if kind in STACK_KINDS:
            return tuple(Point(kind, stack) for stack, layers in stacks.items() if layers)
        sites = {"encoder": ("encoder",), "decoder": ("decoder", "cross")}
        return tuple(
            Point(kind, site, layer)
            for stack, layers in stacks.items()
            for layer in range(layers)
            for site in (sites[stack] if kind in ATTENTION_KINDS else (stack,))
            if self._config.layers(site)
        )

    def choices(self, logits: Tensor) -> Tensor:
        return logits[..., EOS:].argmax(-1) + EOS  # padding and BOS are never chosen

    def _prompts(self, texts: Sequence[str]) -> TokenRows:
        """The tokens of texts for a decoder alone, each with its beginning."""
        return token_rows([[BOS, *self.checkpoint.read(text)[1]] for text in texts])

    @property
    def _transformer(self) -> Transformer:
        return self.checkpoint.model

    @property
    def _config(self) -> ModelConfig:
        return self.checkpoint.model.config


def token_rows(rows: Sequence[Sequence[int]]) -> TokenRows:
    """Ids of our own vocabularies, padded to one length."""
    return TokenRows.of(rows, lambda token: _KINDS.get(token, TokenKind.CONTENT), PAD)


def fed_sides(batch: EvaluationBatch) -> tuple[TokenRows, TokenRows]:
    """Source and queries of a batch; the source is empty for a decoder alone."""
    assert batch.queries is not None
    if batch.source is not None:
        return batch.source, batch.queries
    return token_rows([()] * len(batch)), batch.queries


def forced_batch(
    sources: Sequence[Sequence[int]] | None,
    targets: Sequence[Sequence[int]],
    name: str,
    kind: Targets = "given",
    task: AlignedTask | None = None,
) -> EvaluationBatch:
    """A batch from ids: sources with EOS last, None for a decoder alone; targets with BOS first and
    EOS last."""
    queries, labels = teacher_forced(token_rows(targets), PAD)
    source = None if sources is None else token_rows(sources)
    return EvaluationBatch(source, queries, labels, name, kind, task)
