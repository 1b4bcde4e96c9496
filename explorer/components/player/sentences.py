"""The sentences that the player needs: its own, and the technical words that it explains."""

from collections.abc import Mapping
from functools import cache

from explorer.core.i18n import section


@cache
def player_sentences(language: str = "en") -> Mapping[str, str]:
    return {**section("player", language), **section("glossary", language)}
