"""Building an `AttentionIndex`: decode the texts of a corpus, and keep the attention of each."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save as save_arrays

from explorer.core.errors import SearchError
from explorer.core.files import as_path, byte_count, check_output, replace_atomically
from explorer.core.sites import SIDES, sides
from explorer.core.word_segmentation import known_mark
from explorer.heads.metrics.evaluation_batches import (
    SENTENCES,
    Progress,
    distinct,
    listed_texts,
    no_progress,
    part_size,
    refuse_unreadable,
    task_sentences,
)
from explorer.heads.search.attention_index import (
    FORMAT_VERSION,
    STEPS,
    AttentionIndex,
    open_index,
)
from explorer.model.evaluation_batch import PART_SIZE, EvaluationBatch, TokenKind, TokenRows
from explorer.model.measurable import MeasurableModel
from explorer.model.threads import threads_for

LARGEST_INDEX = 512 * 2**20
"""Bytes of the weights. They are in memory three times when the file is written."""

_Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Corpus:
    """The texts of an index, or pairs (source, target), each once.

    languages: of source and target, for a model of the library that reads several.
    """

    texts: tuple[Any, ...]
    name: str
    languages: tuple[str | None, ...]

    @classmethod
    def of(
        cls,
        model: MeasurableModel,
        texts: Iterable[str] | Iterable[tuple[str, str]] | None,
        name: str = "",
    ) -> "Corpus":
        """Texts or pairs; None = held-out sequences of the model's toy task.

        Raises `EvaluationBatchError` and `VocabularyError` as `given_sentences`, and on no texts.
        """
        if texts is None:
            return cls.of_task(model, SENTENCES)
        given = listed_texts(texts)
        are_pairs = any(not isinstance(text, str) for text in given)
        kept, name = distinct(given, name or ("pairs" if are_pairs else "texts"))
        refuse_unreadable(model, kept)
        return cls(tuple(kept), name, _languages(model))

    @classmethod
    def of_task(cls, model: MeasurableModel, size: int, seed: int = 0) -> "Corpus":
        """The distinct ones of `size` held-out sequences of the model's toy task. Raises
        `EvaluationBatchError` as `task_sentences`."""
        batch = task_sentences(model, size, seed)
        texts = dict.fromkeys(_texts_of(model, batch))
        return cls(tuple(texts), batch.name, _languages(model))

    @cached_property
    def digest(self) -> str:
        """A fingerprint of texts and languages: 16 hexadecimal digits."""
        return sha256(json.dumps([self.languages, self.texts]).encode()).hexdigest()[:16]

    @property
    def are_pairs(self) -> bool:
        return bool(self.texts) and not isinstance(self.texts[0], str)

    def batches(self, model: MeasurableModel) -> Iterator[tuple[list[int], EvaluationBatch]]:
        """The numbers and the evaluation batch of a few texts at a time, short ones first."""
        order = sorted(range(len(self.texts)), key=lambda one: len("".join(self.texts[one])))
        for start in range(0, max(1, len(order)), PART_SIZE):  # an empty corpus is refused
            numbers = order[start : start + PART_SIZE]
            some = [self.texts[number] for number in numbers]
            passes = model.passes
            read = passes.pairs if self.are_pairs else passes.texts
            yield numbers, _without_masks(read(some, self.name))


def attention_index(
    model: MeasurableModel,
    corpus: Corpus,
    path: str | Path,
    progress: Progress = no_progress,
    least: float = 0.0,
) -> AttentionIndex:
    """The index of the attention of every head of `model` over a corpus, in the file `path`: the
    one that is there, else a new one.

    least: the smallest weight that a new index keeps; with 0.1 its file compresses to half.

    Raises `SearchError` if the file holds anything else, and on more weights than an index may
    have; `FileError` if it cannot be written.
    """
    path = as_path(path)
    if path.exists():
        index = open_index(path)
        index.refuse_other(model.digest, corpus.digest)
        return index
    check_output(path)
    replace_atomically(path, _indexed(model, corpus, progress, least))
    return open_index(path)


def _indexed(model: MeasurableModel, corpus: Corpus, progress: Progress, least: float) -> bytes:
    """The file of an index."""
    sentences: list[_Arrays] = [{} for _ in corpus.texts]
    targets: dict[int, str] = {}
    done = size = 0
    given = joined = False
    for numbers, batch in corpus.batches(model):
        given = batch.targets == "given"
        joined = corpus.are_pairs and not given
        if batch.targets == "greedy":
            targets |= zip(numbers, _written(model, batch.labels, "target"), strict=True)
        for number, arrays in zip(numbers, _sentences(model, batch), strict=True):
            sentences[number] = arrays
            for site in _sites(model):
                arrays[site][arrays[site] < least * STEPS] = 0
                size += arrays[site].nbytes
        if size > LARGEST_INDEX:
            limit = byte_count(LARGEST_INDEX)
            raise SearchError("index_too_large", limit=limit, done=done, count=len(corpus.texts))
        done += len(numbers)
        progress(done / len(corpus.texts))
    tensors = {
        name: np.concatenate([one[name] for one in sentences], axis=-1) for name in sentences[0]
    }
    of_pairs = [(text, "") if isinstance(text, str) else text for text in corpus.texts]
    facts = {
        "version": FORMAT_VERSION,
        "model": model.name,
        "digest": model.digest,
        "name": corpus.name,
        "corpus": corpus.digest,
        "least": least,
        "heads": model.passes.heads,
        "sources": [source for source, _ in of_pairs],
        "targets": [targets.get(number, own) for number, (_, own) in enumerate(of_pairs)],
        "joined": joined,
        "forced": [one["forced"].tolist() for one in sentences] if given else None,
        "languages": corpus.languages,
        "labels": {side: _labels(model, tensors[f"{side}.ids"], side) for side in SIDES},
    }
    del tensors["forced"]
    return save_arrays(tensors, {"index": json.dumps(facts)})


def _sentences(model: MeasurableModel, batch: EvaluationBatch) -> Iterator[_Arrays]:
    """The tensors of each sentence: of each site the weights (heads, cells), and its tokens."""
    size = part_size(model, batch)
    for start in range(0, len(batch), size):
        part = batch.chosen(torch.arange(start, min(start + size, len(batch))))
        with threads_for(model.passes.parameters, part.pass_tokens):
            weights = _weights(model, part)
        nothing = TokenRows.of([()] * len(part), lambda _: TokenKind.CONTENT, 0)
        source, target = part.source or nothing, part.queries or nothing
        for number in range(len(part)):
            lengths = [int(side.lengths[number]) for side in (source, target)]
            arrays: _Arrays = {}
            for site, own in weights.items():
                queries, keys = sides(*lengths)[site]
                arrays[site] = own[number, :, :queries, :keys].reshape(own.shape[1], -1)
            for side, rows, length in zip(SIDES, (source, target), lengths, strict=True):
                arrays[f"{side}.ids"] = rows.ids[number, :length].numpy()
                arrays[f"{side}.kinds"] = rows.kinds[number, :length].numpy()
                arrays[f"{side}.lengths"] = np.array([length])
            arrays["forced"] = part.labels.ids[number, : lengths[1]].numpy()
            yield arrays


def _weights(model: MeasurableModel, part: EvaluationBatch) -> _Arrays:
    """By site, the weights (N, heads, Q, K) of all layers, in steps."""
    layers: dict[str, list[NDArray[Any]]] = {}
    for layer in model.passes.attentions(part):
        steps = np.rint(layer.weights.float().numpy() * STEPS)
        layers.setdefault(layer.site, []).append(steps.astype(np.uint8))
    return {site: np.concatenate(own, axis=1) for site, own in layers.items()}


def _without_masks(batch: EvaluationBatch) -> EvaluationBatch:
    """The batch as a trace reads its texts: an encoder's masked tokens are those of the text."""
    if batch.targets != "masked":
        return batch
    assert batch.source is not None
    return replace(batch, source=TokenRows(batch.labels.ids, batch.source.kinds))


def _languages(model: MeasurableModel) -> tuple[str | None, ...]:
    return tuple(model.facts.get(f"{side}_language") for side in SIDES)


def _sites(model: MeasurableModel) -> list[str]:
    return list(dict.fromkeys(head.site for head in model.passes.heads))


def _texts_of(model: MeasurableModel, batch: EvaluationBatch) -> list[str]:
    """The texts that the sentences of a toy task are."""
    if batch.source is not None:
        return _written(model, batch.source, "source")
    assert batch.queries is not None
    return _written(model, batch.queries, "target")


def _written(
    model: MeasurableModel, rows: TokenRows, side: Literal["source", "target"]
) -> list[str]:
    """The content of each sequence as a text."""
    texts = []
    for ids, special in zip(rows.ids, rows.special, strict=True):
        labels = model.passes.labels(ids[~special].tolist(), side)
        mark = known_mark(model.facts, labels)
        if mark in ("▁", "Ġ"):
            texts.append("".join(labels).replace(mark, " ").strip())
        else:
            texts.append(" ".join(labels).replace(" ##", ""))
    return texts


def _labels(
    model: MeasurableModel, ids: NDArray[Any], side: Literal["source", "target"]
) -> dict[int, str]:
    """id → label of all tokens of a side, each on its own: in a text it may begin a word."""
    return {number: model.passes.labels([number], side)[0] for number in np.unique(ids).tolist()}
