"""The fields for sentences, in the form of measurements."""

from pathlib import Path

import pytest

from explorer.core import folders
from explorer.core.i18n import say
from tests.support.app_pages import captions, open_page


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was measured on this machine."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def test_the_fields_are_those_of_the_kind() -> None:
    app = open_page("heads", part="metrics", model="reverse")
    assert app.number_input(key="measure-size").value == 256
    assert app.number_input(key="measure-size").label == "How many"
    assert app.number_input(key="measure-seed").value == 0
    app = app.radio(key="measure-kind-en").set_value("lines").run()
    assert app.number_input(key="measure-size").label == "At most"  # there may be fewer lines
    assert app.text_area(key="measure-lines").value == ""
    assert app.text_area(key="measure-lines").label == say("heads.lines")
    assert "measure-seed" not in {field.key for field in app.number_input}
    app = app.radio(key="measure-kind-en").set_value("pairs").run()
    assert not app.text_area
    assert len(app.file_uploader) == 1


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (b"1\t1\n2\t2\n", "x.tsv: 2 pairs"),
        (b"1\t1\n\n", "x.tsv: 1 pair"),
        (b"1\t1\n2\t2\njunk\n\njunk\njunk", "x.tsv: 2 pairs; lines without a tab, left out: 3"),
    ],
)
def test_the_pairs_of_a_file_are_counted_and_the_lines_that_are_none(
    contents: bytes, said: str
) -> None:
    app = open_page("heads", part="metrics", model="reverse")
    app = app.radio(key="measure-kind-en").set_value("pairs").run()
    app = app.file_uploader[0].set_value(("x.tsv", contents, "")).run()
    assert said in captions(app)


def test_lines_stand_there_at_first_for_a_model_that_has_nothing_else(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    app = open_page("heads", part="search", model="gpt-tiny")
    field = app.text_area(key="search-lines-gpt-tiny")
    assert field.value.startswith("The animal")
    assert "the one that follows it in the text" in field.label  # nothing is decoded
    assert list(app.radio(key="search-kind-own-en").options) == [
        say(f"heads.source_{one}") for one in ("lines", "pairs")
    ]
