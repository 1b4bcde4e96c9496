"""The languages of a multilingual tokenizer that adds a language token to a text.

M2M100, NLLB, mBART and PLBart have such tokens, each with codes of its own: "fr", "fra_Latn",
"fr_XX". Models that read the language as ordinary text, such as Marian's ">>fra<<" and T5, do not.
"""

import re
from collections.abc import Mapping
from typing import Any

from explorer.core.errors import ConfigError
from explorer.core.spoken_languages import nearest_codes
from explorer.core.vocabulary import shorten

_CODE = re.compile(r"__\w+__|[a-z]{2,3}_([A-Z]{2}|[A-Z][a-z]{3})", re.ASCII)
_LONGEST = 100  # characters of a possible code
_SHOWN = 5


def languages_of(tokenizer: Any, size: int) -> Mapping[str, int]:
    """Code → id of its token, in the order of the ids; empty without language tokens.

    size: number of embeddings; languages whose token has no embedding are left out.
    """
    if not hasattr(type(tokenizer), "src_lang"):
        return {}
    listed = getattr(tokenizer, "lang_code_to_id", None)
    if not isinstance(listed, Mapping) or not listed:
        added = tokenizer.added_tokens_decoder.items()
        listed = {str(one): number for number, one in added if one.special and _is_code(str(one))}
    by_id = sorted(listed.items(), key=lambda entry: entry[1])
    return {bare(code): number for code, number in by_id if 0 <= number < size}


def bare(code: str) -> str:
    """A code without the underscores around it that some tokenizers have."""
    return code.strip("_")


def checked_language(code: object, languages: Mapping[str, int], name: str) -> None:
    """Raise `ConfigError` unless `code` is one of `languages`; name: the option's."""
    if not languages:
        raise ConfigError("no_languages", name=name)
    if not isinstance(code, str) or code not in languages:
        written = str(code)
        near = nearest_codes(written, languages) or tuple(languages)[:_SHOWN]
        facts = {"known": ", ".join(near), "count": len(languages)}
        raise ConfigError("unknown_language", name=name, got=shorten(written), **facts)


def _is_code(token: str) -> bool:
    return len(token) < _LONGEST and _CODE.fullmatch(token) is not None
