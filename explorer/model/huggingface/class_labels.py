"""The classes of a classifier or tagger, by number or name."""

import operator
from dataclasses import dataclass
from typing import Any, SupportsIndex

from explorer.core.errors import EvaluationBatchError
from explorer.core.predictions import PredictionKind
from explorer.core.vocabulary import shorten
from explorer.model.huggingface.answers import answer_of, label_names
from explorer.model.huggingface.tokens import TextTokens

_SHOWN = 8  # classes that a message names


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of a model.

    names: by number; empty for a model that does not predict one single class.
    of_tokens: True if each token has a class, False if each text has one.
    """

    names: tuple[str, ...] = ()
    of_tokens: bool = False

    @classmethod
    def of(cls, model: Any) -> "Classes":
        """The classes of a library model with a softmax over them, for a text or for each token."""
        kind = answer_of(model)
        if kind not in (PredictionKind.CLASS, PredictionKind.TAGS):
            return cls()
        count = int(getattr(model.config, "num_labels", 0) or 0)
        return cls(label_names(model, count), kind == PredictionKind.TAGS)

    @property
    def count(self) -> int:
        return len(self.names)

    def number(self, label: object) -> int:
        """The number of a class, given by number or by name; case matters only to tell names apart.

        Raises `EvaluationBatchError`.
        """
        if isinstance(label, SupportsIndex) and not isinstance(label, bool):
            if 0 <= operator.index(label) < self.count:
                return operator.index(label)
        elif isinstance(label, str):
            bare = label.strip()
            for read in (str, str.casefold):
                same = [
                    number for number, name in enumerate(self.names) if read(name) == read(bare)
                ]
                if len(same) == 1:
                    return same[0]
            if bare.isdecimal() and len(bare) < 7 and int(bare) < self.count:
                return int(bare)
        known = ", ".join(self.names[:_SHOWN]) + (" …" if self.count > _SHOWN else "")
        raise EvaluationBatchError(
            "unknown_label", got=shorten(str(label)), known=known, last=self.count - 1
        )

    def of_text(self, label: object, read: TextTokens) -> dict[int, int]:
        """Row → the number of its class. A text has row 0; a tagger has a row for the first token
        of each word, where spaces separate words.

        label: a class; for a tagger one class per word, as a list or separated by spaces.
        """
        if not self.of_tokens:
            return {0: self.number(label)}
        tags = label.split() if isinstance(label, str) else label
        words = _words(read.texts[0])
        if not isinstance(tags, list | tuple) or len(tags) != len(words) or not read.spans:
            got = len(tags) if isinstance(tags, list | tuple) else type(label).__name__
            text = shorten(read.texts[0])
            raise EvaluationBatchError("tags_of_words", text=text, words=len(words), got=got)
        spans, rows = read.spans[: read.second], dict[int, int]()
        for (start, stop), tag in zip(words, tags, strict=True):
            own = (row for row, (a, b) in enumerate(spans) if max(a, start) < min(b, stop))
            row = next(own, None)
            if row is not None:  # else the tokenizer drops the word
                rows[row] = self.number(tag)
        return rows


def _words(text: str) -> list[tuple[int, int]]:
    """(start, stop) of each word of a text, in characters."""
    places, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        places.append((start, start + len(word)))
        start += len(word)
    return places
