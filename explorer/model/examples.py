"""Example texts: of the toy tasks, and of single models with a hint on what to look at.

The examples of a model of sentences are in the string table: `strings/examples-MODEL.toml` has one
entry for each, with its hint in every language.
"""

from explorer.core.i18n import table

ANY_SENTENCE = "The black cat is sleeping on the red chair."
"""Initial text of a model of sentences without examples."""

SENTENCES = (
    ANY_SENTENCE,
    "She gave the book to her brother because he likes to read.",
    "那只黑猫睡在红椅子上。",
)
"""For a model of the library transformers with an encoder and a decoder, in any language."""

PROMPTS = (
    "The animal did not cross the street because it",
    "Paris is the capital of France, and Berlin is the capital of",
    "one two three four one two three",
)
"""Beginnings of a text, for a model with a decoder alone."""

WITH_MASKS = (
    "The capital of France is [MASK].",
    "The cat [MASK] on the red [MASK].",
    "The animal did not cross the street because [MASK] was too tired.",
)
"""For a model that fills in masks; "[MASK]" stands for its mask token."""

_IDS = (5, 17, 8, 30, 11, 23, 8, 14)

_SYMBOLS = {
    "copy": ("7 3 9 1 4", "甲 乙 丙 丁", "a 1 b 2 c 3", "5 5 2 5 2 2"),
    "reverse": ("7 3 9 1 4", "甲 乙 丙 丁", "1 2 3 4 5 6 7 8 9", "a 甲 b 乙 c 丙", "5 5 2 5 2 2"),
    "sort": ("7 3 9 1 4", "丁 丙 乙 甲", "d 4 b 2 c 3 a 1", "5 5 2 5 2 2"),
}
_LONG = "3 甲 7 a 1 乙 9 c 5 丙 2 e 8 丁 4 g"
_BLOCKS = ("7 3 9 1 4 7", "甲 乙 丙 丁 甲", "a 1 b 2 c 3 a 1", "3 甲 7 a 1 乙 9 c 5 丙 2 e 3")
"""Each begins again, for a decoder alone that repeats them."""


def for_task(task: str) -> tuple[str, ...]:
    """Texts for a model of that toy task, at least one."""
    return _BLOCKS if task == "induction" else (*_SYMBOLS.get(task, ()), _LONG)


def some_ids(vocabulary: int) -> str:
    """Ids, for a model without a tokenizer. vocabulary: number of ids, 0 if unknown."""
    return " ".join(str(number % vocabulary if vocabulary else number) for number in _IDS)


def for_model(model: str) -> tuple[str, ...]:
    """Texts for the model of that name, in the order of its file; empty without a file."""
    return tuple(table().get(_section(model), ()))


def hint(model: str, text: str, language: str) -> str:
    """Hint on what to look at in one of the example sentences; "" for any other text."""
    told = table().get(_section(model), {}).get(text, {})
    return told.get(language, told.get("en", ""))


def _section(model: str) -> str:
    return f"examples-{model}"
