"""Errors that a person can cause and correct, one class for each kind of input or work that fails.

Each carries the key of a sentence and the facts that fill it in, so that a view can show it in
the reader's language: what was expected, what came instead, and what to do.
"""

import re
from typing import ClassVar, Self

from explorer.core.i18n import say

LONGEST_FACT = 1000
"""Most characters of one fact in a sentence; text from a file or a caller may be longer."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class ExplorerError(Exception):
    """The base of all errors that a person can cause and correct.

    section: the section of the string table that has the sentences of the class.
    key: the name of the sentence there; `facts` fill it in. `str(error)` is the English one.
    """

    section: ClassVar[str] = "errors"

    def __init__(self, key: str, **facts: object) -> None:
        self.key = key
        self.facts = facts
        super().__init__(self.in_language("en"))

    def in_language(self, language: str) -> str:
        """The sentence in `language`, with those of errors among its facts."""
        facts = {name: _shown(fact, language) for name, fact in self.facts.items()}
        return say(f"{self.section}.{self.key}", language, **facts)

    def alone(self) -> Self:
        """This error without its traceback and cause; call it before an error is stored.

        They keep references to everything in memory when it was raised, such as a refused file.
        """
        self.__traceback__ = self.__cause__ = self.__context__ = None
        for fact in self.facts.values():
            if isinstance(fact, ExplorerError):
                fact.alone()
        return self


def _shown(fact: object, language: str) -> object:
    """A fact as a sentence shows it: text on one line, because control characters affect a
    terminal."""
    if isinstance(fact, ExplorerError):
        return fact.in_language(language)
    if not isinstance(fact, str):
        return fact
    line = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", fact[:LONGEST_FACT])
    return f"{line}…" if len(fact) > LONGEST_FACT else line


class FileError(ExplorerError):
    """A file or folder that the system does not let us read or write."""


class VocabularyError(ExplorerError):
    """A text or a vocabulary that cannot be turned into ids."""


class PairsError(ExplorerError):
    """A file that is not a table of sentences and translations."""


class TraceError(ExplorerError):
    """Arrays or a file that do not make a trace, or a part of a trace that was not captured."""


class TraceSizeError(TraceError):
    """Attention that would be larger than a trace may be."""


class HeadReportError(ExplorerError):
    """A file that is not a head report."""


class EvaluationBatchError(ExplorerError):
    """An evaluation batch without sentences, or a toy batch for a model without a toy task."""


class SearchError(ExplorerError):
    """A file that is no index of attention, or a question that it cannot answer."""


class MeasurementError(ExplorerError):
    """A measurement that cannot be made."""

    section = "heads"


class HookError(ExplorerError):
    """A hook point that does not exist."""


class PointError(ExplorerError):
    """A value of a pass that does not exist, or that cannot be read or changed."""


class MaskError(ExplorerError):
    """A mask that leaves a query nothing to attend to."""


class InterventionError(ExplorerError):
    """Something that cannot be done to this model."""


class ConfigError(ExplorerError):
    """Sizes or choices from which no Transformer can be built."""


class TaskError(ExplorerError):
    """A toy task that does not exist."""


class CheckpointError(ExplorerError):
    """A file that is not a checkpoint of the explorer."""


class ModelDirectoryError(ExplorerError):
    """A directory that holds no model of the library transformers that can be shown."""

    section = "huggingface"

    def of(self, name: str) -> Self:
        """This error with the name of its model, which the sentence contains or begins with."""
        facts = self.facts | ({"name": name} if "name" in self.facts else {"model": name})
        return type(self)(self.key, **facts)

    def in_language(self, language: str) -> str:
        sentence = super().in_language(language)
        if "model" not in self.facts:
            return sentence
        model = _shown(self.facts["model"], language)
        return say(f"{self.section}.of_model", language, model=model, sentence=sentence)


class TrainingError(ExplorerError):
    """A training that cannot start or continue."""


class RunError(ExplorerError):
    """A run that does not exist, is damaged, or is carried out by another process."""


class AlignmentError(ExplorerError):
    """A file of links that cannot be read, or a head or timing that does not exist."""


class LanguageError(ExplorerError):
    """A language file that cannot be read, or one of its lines that cannot be used."""

    section = "languages"


class RemovedError(ExplorerError):
    """A command, option or method that is gone; the sentence names what remains. `key` names it."""

    section = "removed"


class LessonError(ExplorerError):
    """A file that cannot be read as a lesson, or a lesson that does not fit its model."""

    section = "lessons"
