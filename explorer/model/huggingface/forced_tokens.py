"""The tokens that a caller imposes on decoding, by step."""

from collections.abc import Mapping

from explorer.core.errors import VocabularyError
from explorer.model.huggingface.tokens import Tokens


def forced_tokens(
    tokens: Tokens,
    first: int,
    positions: int | None,
    ends: frozenset[int],
    target: str | None,
    prefix: str | None,
    force: Mapping[int, int],
) -> Mapping[int, int]:
    """Step → the id its token must have.

    first: the first step that is decoded. positions: the most tokens; None without a limit.
    ends: ids after which decoding stops; the smallest ends `target`.

    Raises `VocabularyError`.
    """
    text = target if target is not None else prefix
    if text is not None:
        ids = tokens.target(text)
        ids += sorted(ends)[:1] if target is not None else []
        most = None if positions is None else positions - first + 1
        if most is not None and len(ids) > most:
            raise VocabularyError("long_target", got=len(ids), limit=most)
        return dict(enumerate(ids, start=first))
    last = tokens.size - 1
    for step, token in force.items():
        if not isinstance(token, int) or not 0 <= token <= last:
            raise VocabularyError("no_candidate", token=token, last=last)
        if step < first:
            raise VocabularyError("fixed_step", step=step, first=first)
    return dict(force)
