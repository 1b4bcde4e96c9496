"""Credit for the data a model learned from, in a line that fits the header."""

import re

from explorer.core.i18n import say

_SENTENCES = re.compile(r"Sentences from (?P<corpus>[^(]+?) \(.*?(?P<licence>CC [A-Z-]+ [^;]+)")
"""Pattern of the credits of the models that ship."""


def short_credit(credit: str, language: str) -> str:
    """The corpus and its licence, in the language of the page. A credit of another form stays as in
    the file. The hover text has the full credit."""
    found = _SENTENCES.match(credit)
    if found is None:
        return credit
    return say("explore.credit", language, **found.groupdict())
