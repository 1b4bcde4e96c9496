"""The names of evaluation batches: one table by which reports write them and pages read them.

A name that is none of these is that of a file.
"""

import re

_NAMES = {
    "counted": "{name} ({count})",
    "repeated": "{name}, {repeated} repeated left out",
    "task": "{task}, held out, 1 to {longest} symbols, seed {seed}",
    "dev": "{name}, dev part",
    "examples": "{name}, examples",
    "lines": "your lines",
    "pairs": "your pairs",
}
"""By kind; stored in reports, so that no form may change."""

_FACTS = {"name": ".+", "task": r"\w+"}  # all others are whole numbers


def written(kind: str, **facts: object) -> str:
    """The name of a batch of this kind."""
    return _NAMES[kind].format(**facts)


def read(name: str) -> tuple[str, dict[str, str]]:
    """Kind and facts from which `written` makes `name`; "" and none of a file's name."""
    for kind, form in _NAMES.items():
        if found := re.fullmatch(_pattern(form), name):
            return kind, found.groupdict()
    return "", {}


def _pattern(form: str) -> str:
    parts = re.split(r"\{(\w+)\}", form)  # text and names of facts, in turn
    facts = [f"(?P<{name}>{_FACTS.get(name, '[0-9]+')})" for name in parts[1::2]]
    texts = list(map(re.escape, parts[::2]))
    return "".join(text + fact for text, fact in zip(texts, [*facts, ""], strict=True))
