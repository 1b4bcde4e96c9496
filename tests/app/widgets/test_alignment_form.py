"""What the form for gold links takes and refuses."""

from pathlib import Path

import pytest

from explorer.core import folders
from tests.support.app_pages import open_page
from tests.support.sample import sampled


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was measured on this machine."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


BAD = {
    "no links": b"1 2\t2 1\n",
    "wrong index": b"1 2\t2 1\t0-7\n",
    "letters": b"1 2\t2 1\tab\n",
    "other symbols": "été\tsummer\t0-0\n".encode(),
    "cut utf-16": "1 2\t2 1\t0-0\n".encode("utf-16")[:-1],
    "latin-1": "1 é\t1\t0-0\n".encode("latin-1"),
    "binary": bytes(range(256)) * 40,
    "empty": b"",
    "only spaces": b"  \r\n\t\r\n",
    "large": b"1 2\t2 1\t0-0\n" * 100_000,
    "many rows": b"1\t1\t0-0\n" * 2000,
    "one column": b"1 2 3\n",
    "other tokens": b"1 2\t2 1\t0-0\t1 3\t2 1\n",
}


@pytest.mark.parametrize("name", sampled(BAD, 5))
def test_a_bad_file_is_refused_in_one_sentence(name: str) -> None:
    app = open_page("heads", part="alignment", model="reverse")
    app = app.file_uploader[0].set_value(("bad.tsv", BAD[name], "")).run()
    if not app.error:
        app = app.button(key="align-start").click().run()
    assert not app.exception
    (error,) = app.error
    assert "\n" not in error.value


def test_the_links_chosen_just_before_the_click_are_taken() -> None:
    """The button was drawn for the links that ship with the model."""
    app = open_page("heads", part="alignment", model="chinese-english")
    (choice,) = [one for one in app.radio if one.key.startswith("align-kind")]
    choice.set_value("file")
    app = app.button(key="align-start").click().run()
    assert not app.exception
    assert "Measurements" not in app.session_state  # no file yet, so nothing was started
    assert app.button(key="align-start").disabled
