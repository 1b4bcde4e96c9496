"""Whose data a model learned from, in a line that the header has space for."""

import re

from explorer.core.i18n import say

_SENTENCES = re.compile(r"Sentences from (?P<corpus>[^(]+?) \(.*?(?P<licence>CC [A-Z-]+ [^;]+)")
"""As the credit of the models that ship."""


def short_credit(credit: str, language: str) -> str:
    """The corpus and its licence, in the language of the page; a credit of another form as it is
    in the file. The whole of it stands in the hover text."""
    found = _SENTENCES.match(credit)
    if found is None:
        return credit
    return say("explore.credit", language, **found.groupdict())
