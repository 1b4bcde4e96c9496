"""The names of files that are offered, and the buttons that save them."""

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app.widgets import downloads
from explorer.app.widgets.downloads import download_name
from explorer.core.i18n import say


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("heads", "reverse", "reverse, held out, 1 to 10 symbols, seed 0", 256), ""),
        (("heads", "a/b", "你的 句子.tsv", 2), "heads-a-b-你的-句子.tsv-2"),
        (("heads", "..", "\\:*?<>|", 2), "heads-..-2"),
    ],
)
def test_it_has_no_character_that_a_system_refuses(parts: tuple[object, ...], name: str) -> None:
    expected = name or "heads-reverse-reverse-held-out-1-to-10-symbols-seed-0-256"
    assert download_name(*parts) == expected


def test_it_is_not_too_long() -> None:
    assert len(download_name("x" * 500)) == 100


def page() -> None:
    from explorer.app.widgets.downloads import download_button

    download_button("heads.download", lambda: b"1", "heads-x.csv", "heads", "en")


def test_a_file_is_made_when_its_button_is_pressed(monkeypatch) -> None:
    offered: list[tuple[str, bytes, str, str]] = []
    monkeypatch.setattr(
        downloads.st,
        "download_button",
        lambda label, make, file_name, mime, **_: offered.append((label, make(), file_name, mime)),
    )
    assert not AppTest.from_function(page).run().exception
    assert offered == [(say("heads.download", "en"), b"1", "heads-x.csv", "text/csv")]
