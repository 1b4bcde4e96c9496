"""What holds of every section of Heads, whichever it is."""

from itertools import product
from pathlib import Path

import pytest

from explorer.app.views.heads import _SECTIONS
from explorer.core import folders
from explorer.core.i18n import LANGUAGES, say
from explorer.core.look import MOVED_SECTIONS, SECTIONS
from explorer.core.section_questions import QUESTIONS
from tests.support.app_pages import captions, chosen_in, open_page, url_query

MODELS = ("reverse", "english-french", "english")  # a toy task, a translator, a decoder alone


@pytest.fixture(autouse=True)
def nothing_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has measured anything."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def test_the_page_draws_each_in_the_order_of_the_address():
    assert tuple(_SECTIONS) == SECTIONS
    assert QUESTIONS.keys() <= set(SECTIONS)
    assert not MOVED_SECTIONS.keys() & set(SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_it_has_a_label_and_a_sentence_of_its_own_in_each_language(section):
    for prefix, language in product(("part", "about"), LANGUAGES):
        said = say(f"heads.{prefix}_{section}", language)
        others = [say(f"heads.{prefix}_{one}", language) for one in SECTIONS if one != section]
        assert said.strip()
        assert said not in others


@pytest.mark.parametrize(("section", "model"), [*product(SECTIONS, MODELS)])
def test_it_opens_from_its_link_is_chosen_and_stays_in_the_other_language(section, model):
    app = open_page("heads", part=section, model=model, lang="en")
    assert not app.exception
    assert not app.error
    assert url_query(app).get("part", SECTIONS[0]) == section
    group = "section" if _SECTIONS[section].simple else "more-section"
    assert chosen_in(app.segmented_control, f"{group}-en").value == section
    assert say(f"heads.about_{section}", "en") in captions(app)
    app = open_page("heads", part=section, model=model, lang="zh")
    assert not app.exception
    assert not app.error
    assert chosen_in(app.segmented_control, f"{group}-zh").value == section
