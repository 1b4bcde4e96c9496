"""How an opened model of the library can read a text, as the page Explore offers it."""

from typing import Any

from explorer.app import model_cache
from explorer.core.spoken_languages import language_name
from explorer.model.catalog import CatalogMember


def reading_choices(member: CatalogMember, language: str) -> dict[str, Any] | None:
    """What `ReadingChoices` in `trace.ts` describes; None for a model without any choice, and for
    one that is not open.

    language: of the names.
    """
    model = model_cache.opened(member)
    if model is None or not (model.tokens.languages or model.tokens.chats):
        return None
    own = {name: model.facts.get(f"{name}_language") for name in ("source", "target")}
    return {
        "languages": [_language(code, language) for code in model.tokens.languages],
        **{name: _language(code, language) if code else None for name, code in own.items()},
        "chats": model.tokens.chats,
    }


def _language(code: str, language: str) -> dict[str, str]:
    """A code, and its line in a list: "French · fr"."""
    name = language_name(code, language)
    return {"code": code, "name": f"{name} · {code}" if name else code}
