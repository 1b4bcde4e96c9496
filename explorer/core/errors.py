"""One family of errors: each says what was expected, what came and what to do.

Code raises a subclass with the key of a sentence and its facts; a view shows the sentence in
the reader's language and keeps the old picture.
"""

from explorer.core.i18n import say


class ExplorerError(Exception):
    """Anything a person can cause and mend.

    `key` names the sentence in the `errors` section of the string table; `facts` fill it in.
    `str(error)` is the English sentence.
    """

    def __init__(self, key: str, **facts: object) -> None:
        self.key = key
        self.facts = facts
        super().__init__(self.in_language("en"))

    def in_language(self, language: str) -> str:
        """The sentence in `language` ("en", "zh")."""
        return say(f"errors.{self.key}", language, **self.facts)


class VocabularyError(ExplorerError):
    """A text or a vocabulary that cannot be turned into ids."""


class PairsError(ExplorerError):
    """A file that is no table of sentences and translations."""


class TraceError(ExplorerError):
    """Arrays or a file that are no trace, or a part of a trace that was not captured."""


class HookError(ExplorerError):
    """A hook point that does not exist."""


class MaskError(ExplorerError):
    """A mask that leaves a query nothing to attend to."""


class InterventionError(ExplorerError):
    """Something that cannot be done to this model."""


class ConfigError(ExplorerError):
    """Sizes or choices from which no Transformer can be built."""


class CheckpointError(ExplorerError):
    """A file that is no checkpoint of ours."""


class TrainingError(ExplorerError):
    """A training that cannot be started or go on."""


class RunError(ExplorerError):
    """A run that is not there, cannot be read, or is in somebody else's hands."""


class AlignmentError(ExplorerError):
    """Links between words that cannot be read, or a head or timing to take them from that is
    not there."""
