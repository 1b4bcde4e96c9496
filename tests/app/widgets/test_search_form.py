"""The form that builds an index of a model's attention."""

from pathlib import Path

import pytest

from explorer.core import folders
from explorer.core.errors import MeasurementError
from explorer.jobs import index_jobs
from explorer.jobs.measurement_jobs import Sentences
from tests.support.app_pages import open_page


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The sentences and their names that indexes are begun of; none is built."""
    found: list[tuple[object, ...]] = []

    def start(
        checkpoint: object, name: str, sentences: Sentences, digest: str, corpus: str
    ) -> None:
        found.append((sentences, corpus))
        raise MeasurementError("queue_full", count=8)

    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    monkeypatch.setattr(index_jobs, "start", start)
    return found


def test_all_that_an_index_takes_are_asked_for_at_first(begun: list[tuple[object, ...]]) -> None:
    app = open_page("heads", part="search", model="reverse")
    assert app.button(key="search-start").label == "Build the index"
    app = app.button(key="search-start").click().run()
    assert begun == [(Sentences(size=index_jobs.MOST_SENTENCES), "")]
    assert len(app.error) == 1


def test_a_translator_has_the_pairs_that_ship_with_it(begun: list[tuple[object, ...]]) -> None:
    app = open_page("heads", part="search", model="english-french")
    app = app.number_input(key="search-size").set_value(5).run()
    app.button(key="search-start").click().run()
    ((sentences, name),) = begun
    assert isinstance(sentences, Sentences)
    assert (sentences.kind, sentences.size, len(sentences.lines)) == ("pairs", 5, 100)
    assert name == "english-french.tsv"


def test_a_text_that_the_model_cannot_read_is_refused_before_anything_starts(
    begun: list[tuple[object, ...]],
) -> None:
    app = open_page("heads", part="search", model="reverse")
    app = app.radio(key="search-kind-en").set_value("lines").run()
    app = app.text_area(key="search-lines").set_value("1 2\n1 été").run()
    app = app.button(key="search-start").click().run()
    (error,) = app.error
    assert error.value.startswith("Line 2\\: ")
    assert begun == []
