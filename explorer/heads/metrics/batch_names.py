"""The names of evaluation batches: one table by which reports write them and pages read them.

Any other name is the name of a file.
"""

import re

_NAMES = {
    "counted": "{name} ({count})",
    "repeated": "{name}, {repeated} repeated left out",
    "task": "{task}, held out, 1 to {longest} symbols, seed {seed}",
    "continued": "{task}, held out, {longest} symbols, seed {seed}",
    "random": "random tokens, a block of {block} twice, seed {seed}",
    "dev": "{name}, dev part",
    "examples": "{name}, examples",
    "lines": "your lines",
    "pairs": "your pairs",
}
"""Pattern of a name by kind. Reports store the names, so no pattern may change."""

_FACTS = {"name": ".+", "task": r"\w+"}  # all others are whole numbers


def written(kind: str, **facts: object) -> str:
    """The name of a batch of this kind."""
    return _NAMES[kind].format(**facts)


def read(name: str) -> tuple[str, dict[str, str]]:
    """Kind and facts from which `written` makes `name`; "" and no facts for a file's name."""
    for kind, form in _NAMES.items():
        if found := re.fullmatch(re.sub(r"\\{(\w+)\\}", _fact, re.escape(form)), name):
            return kind, found.groupdict()
    return "", {}


def _fact(found: re.Match[str]) -> str:
    return f"(?P<{found[1]}>{_FACTS.get(found[1], '[0-9]+')})"
