"""The names of files that are offered."""

import pytest

from explorer.app.widgets.download_name import download_name


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("heads", "reverse", "reverse, held out, 1 to 10 symbols, seed 0", 256), ""),
        (("pruning", "a/b", "你的 句子.tsv", 2), "pruning-a-b-你的-句子.tsv-2"),
        (("heads", "..", "\\:*?<>|", 2), "heads-..-2"),
    ],
)
def test_it_has_no_character_that_a_system_refuses(parts: tuple[object, ...], name: str) -> None:
    expected = name or "heads-reverse-reverse-held-out-1-to-10-symbols-seed-0-256"
    assert download_name(*parts) == expected


def test_it_is_not_too_long() -> None:
    assert len(download_name("x" * 500)) == 100
