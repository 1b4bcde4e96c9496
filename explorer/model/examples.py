"""Sentences worth looking at, and what to look at in each.

They stand among the sentences people read: the file `strings/examples-MODEL.toml` has one
entry for each, under the text itself. Its first one is what the model opens with.
"""

from explorer.core.i18n import table


def texts(model: str) -> tuple[str, ...]:
    """The sentences for the model of that name, in the order of the file; none without one."""
    return tuple(table().get(_section(model), ()))


def hint(model: str, text: str, language: str) -> str:
    """What to look at in one of the sentences; "" for any other text."""
    told = table().get(_section(model), {}).get(text, {})
    return told.get(language, told.get("en", ""))


def _section(model: str) -> str:
    return f"examples-{model}"
