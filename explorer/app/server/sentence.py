"""One sentence as the whole answer to a request, in the browser's language."""

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from explorer.core.i18n import nearest_language, say


def language_of(headers: Headers) -> str:
    """The language for the first tag of Accept-Language; English if there is none."""
    return nearest_language(headers.get("accept-language", "").partition(",")[0].partition(";")[0])


def sentence(status: int, key: str, headers: Headers, **facts: object) -> PlainTextResponse:
    """An answer that browsers do not cache.

    headers: of the request. key, facts: of the sentence.
    """
    text = say(key, language_of(headers), **facts)
    return PlainTextResponse(text, status_code=status, headers={"Cache-Control": "no-store"})
