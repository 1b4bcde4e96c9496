"""The names of files that are offered, and the buttons that save them."""

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app.state import visitor
from explorer.app.widgets.downloads import download_name


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


def page() -> None:
    from explorer.app.widgets.downloads import figure_buttons

    figure_buttons(lambda width: f"drawn for {width}".encode(), "pruning-x", "curves", "en")


def test_a_figure_is_saved_for_both_columns_and_for_one(monkeypatch) -> None:
    drawn: list[bytes] = []
    monkeypatch.setattr(visitor, "limited_download", lambda make, _: drawn.append(make()) or b"")
    app = AppTest.from_function(page).run()
    assert not app.exception
    buttons = [button.proto for button in app.get("download_button")]
    assert [button.label for button in buttons] == ["SVG", "SVG, one column"]
    assert drawn == [b"drawn for both", b"drawn for one"]
