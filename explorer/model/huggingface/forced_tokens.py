"""The tokens that a caller imposes on decoding, by step."""

from collections.abc import Mapping, Sequence

from explorer.core.errors import VocabularyError


def numbered_steps(ids: Sequence[int], first: int, positions: int | None) -> Mapping[int, int]:
    """Step → token, for consecutive tokens.

    first: the first step that is decoded. positions: the most tokens; None without a limit.

    Raises `VocabularyError` on too many tokens.
    """
    most = None if positions is None else positions - first + 1
    if most is not None and len(ids) > most:
        raise VocabularyError("long_target", got=len(ids), limit=most)
    return dict(enumerate(ids, start=first))


def checked_steps(force: Mapping[int, int], first: int, size: int) -> Mapping[int, int]:
    """A copy of `force`, step → id of a token. Raises `VocabularyError` on a wrong step or id.

    first: the first step that is decoded. size: number of ids.
    """
    for step, token in force.items():
        if not isinstance(token, int) or not 0 <= token < size:
            raise VocabularyError("no_candidate", token=token, last=size - 1)
        if not isinstance(step, int) or step < first:
            raise VocabularyError("fixed_step", step=step, first=first)
    return dict(force)
