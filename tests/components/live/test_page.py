import json
import re
from pathlib import Path

import pytest

from explorer.components import labels
from explorer.components.live.model_script import model_text
from explorer.components.live.page import (
    LinkedLesson,
    LiveModel,
    bar_data,
    component_data,
    file_page,
    static_site_page,
)
from explorer.components.static_site_files import version
from explorer.core.folders import PACKAGE
from explorer.core.i18n import LANGUAGES, say, section
from explorer.core.look import Reading, Request
from explorer.core.sites import Head
from explorer.model.catalog import CatalogMember, UploadedTrace, shipped_models
from explorer.model.listed_model import ListedModel
from explorer.model.model_directory import directory_model
from tests.support.catalog_members import shipped, uploaded
from tests.support.small_trace import small_trace

SOURCES = PACKAGE / "components" / "live" / "js"
HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture
def model() -> LiveModel:
    return LiveModel(shipped_models()["reverse"], b"weights", Head("cross", 1, 2))


def data_in(html: str) -> dict[str, object]:
    found = re.search(r'id="page-data">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_a_site_links_its_files_and_a_file_has_them_inside(model):
    lesson = LinkedLesson("mask", *[dict.fromkeys(LANGUAGES, HOSTILE)] * 2)
    static_site, file = static_site_page([model], [lesson]), file_page(model, "7 3", 1)
    assert f'<script src="live.js?{version()}" defer>' in static_site
    assert "script-src 'self' 'wasm-unsafe-eval';" in static_site
    assert "src=" not in file.replace("img-src=", "")[: file.index("page-data")]
    for html in (static_site, file):
        assert "default-src 'none'" in html
        (described,) = data_in(html)["models"]
        assert described["opening"] == {"site": "cross", "layer": 1, "head": 2}
        assert (described["bytes"], described["scriptBytes"]) == (7, 31)
        assert described["examples"][0]["text"] == "7 3 9 1 4"
    assert data_in(static_site)["lessons"][0]["title"]["en"] == HOSTILE
    assert HOSTILE not in static_site
    assert data_in(file)["opening"] == {"text": "7 3", "pad": 1}
    assert model_text(b"weights") in file


def test_a_guest_s_grid_has_its_sentences_and_not_those_of_the_page_heads(model):
    for language in LANGUAGES:
        own = data_in(static_site_page([model], []))["strings"][language]["heads"]
        assert own["axes_natural"] == say("heads.axes_natural", language)
        assert len(own) < len(section("heads", language)) / 20


def test_only_the_site_has_the_sentences_of_lessons_and_of_a_class(model):
    own = {"live", "explore", "errors", "player"}
    for language in LANGUAGES:
        assert data_in(file_page(model))["strings"][language].keys() == own
        of_site = data_in(static_site_page([model], []))["strings"][language]
        assert of_site.keys() == own | {"training_replay", "class_tools", "heads", "lessons"}


def test_a_page_without_its_script_says_so_in_all_languages(model):
    for html in (static_site_page([model], []), file_page(model)):
        (sentences,) = re.findall('<p id="not-started">(.*?)</p>', html)
        assert all(say("live.not_started", language) in sentences for language in LANGUAGES)
        assert "seen 0s 5s forwards" in html


def test_a_page_knows_whether_others_lie_beside_it(model):
    assert data_in(static_site_page([model], []))["site"] is True
    assert data_in(file_page(model))["site"] is False


def test_a_model_of_sentences_has_no_symbols():
    listed = shipped_models()["english-french"]
    (described,) = data_in(file_page(LiveModel(listed, b"")))["models"]
    assert described["symbols"] == []
    assert described["opening"] is None
    assert all(described["placeholder"].values())


def test_each_shipped_model_has_a_label_and_says_what_it_does():
    for listed in shipped_models().values():
        (described,) = data_in(file_page(LiveModel(listed, b"")))["models"]
        for language in LANGUAGES:
            assert described["label"][language].startswith(f"{listed.name} · ")
            purpose = section("purpose", language)[listed.name]
            assert labels.purpose(listed, language) == purpose  # as the app says it
            assert described["intro"][language].startswith(purpose)
            assert "Next" in described["intro"]["en"]
            assert len(described["sourceWords"]) <= 1000


def test_another_model_is_introduced_by_its_task_or_kind(model):
    other = ListedModel("mine", "", model.listed.summary)
    (described,) = data_in(file_page(LiveModel(other, b"")))["models"]
    assert "reverse order" in described["intro"]["en"]
    translator = ListedModel("mine", "", shipped_models()["english-french"].summary)
    (described,) = data_in(file_page(LiveModel(translator, b"")))["models"]
    assert described["intro"]["en"].startswith("mine translates sentences")


def test_a_name_is_text(model):
    listed = ListedModel('"><b>', "", model.listed.summary)
    assert 'data-model="&quot;&gt;&lt;b&gt;"' in file_page(LiveModel(listed, b""))


def test_every_sentence_that_the_page_says_is_written():
    text = "".join(path.read_text("utf-8") for path in SOURCES.glob("*.ts"))
    asked = set(
        re.findall(r'(?:say|fillIn\(live,|new (?:Model|Server)Error|noteOf)\(?\s*"(\w+)"', text)
    )
    asked |= set(re.findall(r'\["(needs_\w+)"', text))
    assert len(asked) > 15
    known = [section(name).keys() for name in ("live", "explore", "errors")]
    assert asked <= set().union(*known)


def described_of(member: CatalogMember) -> dict[str, object]:
    (described,) = json.loads(component_data([member], "en"))["models"]
    return described


def test_the_component_has_the_sentences_of_its_language_alone():
    data = json.loads(component_data([shipped("mine", "ab")], "zh", server="trace"))
    assert list(data["strings"]) == [data["language"]] == ["zh"]
    assert data["server"] == "trace"
    assert list(data["languages"]) == list(LANGUAGES)
    assert data["fetches"] == []


def test_the_row_alone_has_the_sentences_that_it_says():
    data = json.loads(bar_data([shipped("mine", "ab")], Request("mine", "a"), None, "zh", 0))
    names = ("inputBar", "modelFetch", "readingChoice")
    text = "".join((SOURCES / f"{name}.ts").read_text("utf-8") for name in names)
    said = set(re.findall(r'say\("(\w+)"', text))
    assert said | {"source_language", "target_language"} == data["strings"].keys()
    assert data["strings"]["model"] == "模型"


def test_the_row_alone_knows_of_a_model_what_it_reads():
    trace = UploadedTrace("x.trace", "1", small_trace())
    members = [shipped("mine", "ab"), trace]
    reading = Reading("fr", "", chat=True)
    asked = Request("mine", "a b", 2, pair="c", reading=reading)
    data = json.loads(bar_data(members, asked, None, "en", 7))
    for described in data["models"]:
        whole = described_of(next(one for one in members if one.name == described["name"]))
        left_out = {"intro", "about", "scored", "sourceWords", "targetWords"}
        assert described == {name: whole[name] for name in whole.keys() - left_out}
    assert data["request"] == {
        **{"model": "mine", "text": "a b", "pad": 2, "pair": "c"},
        "reading": {"source_language": "fr", "target_language": "", "chat": True},
        **{"forced": [], "interventions": []},
    }
    assert (data["reading"], data["answered"], data["language"]) == (None, 7, "en")


def test_every_member_of_a_catalog_is_described_alike(model):
    config = {"model_type": "bert", "type_vocab_size": 2, "architectures": ["BertForMaskedLM"]}
    library = directory_model("bert", "1", Path("bert"), config, 0, False)
    trace = UploadedTrace("x.trace", "1", small_trace())
    members = [model.listed, uploaded("mine", "stamp"), library, trace]
    (of_site,) = data_in(static_site_page([model], []))["models"]
    for member in members:
        described = described_of(member)
        assert described.keys() == of_site.keys() | {"about", "scored"}
        for language in LANGUAGES:
            line = labels.describe(member, language)
            assert described["label"][language] == line


def test_a_model_of_the_library_is_no_model_of_our_own():
    config = {"model_type": "bert", "type_vocab_size": 2, "architectures": ["BertForMaskedLM"]}
    described = described_of(directory_model("bert", "1", Path("bert"), config, 0, False))
    asked = {name: described[name] for name in ("library", "pairs", "draws", "words")}
    assert asked == {"library": True, "pairs": True, "draws": False, "words": None}
    assert described["examples"]
    described = described_of(shipped("reverse", "123"))
    asked = {name: described[name] for name in ("library", "pairs", "draws", "words")}
    assert asked == {"library": False, "pairs": False, "draws": True, "words": None}


def test_a_trace_has_its_words_in_the_place_of_examples():
    described = described_of(UploadedTrace("x.trace", "1", small_trace()))
    assert described["words"] == "a b"
    assert described["examples"] == []
    assert described["label"]["en"] == "x.trace · trace without its model"


def test_the_component_says_what_a_model_does_and_what_it_learned_from():
    credit = "Sentences from Tatoeba (tatoeba.org), CC BY 2.0 FR; authors"
    named = {"task": "reverse", "credit": credit, "bleu": 30.0, "test_sources": 7}
    described = described_of(shipped("mine", "123", **named))
    assert described["about"]["en"] == (
        "This model writes symbols in reverse order. Sentences: Tatoeba, CC BY 2.0 FR"
    )
    assert described["scored"]["en"].startswith("BLEU 30.0")
    assert described["scored"]["en"].endswith(credit)
