import pytest

from explorer.app import model_cache
from explorer.app.reading_choices import reading_choices
from explorer.model.directory_search import find_directories, named_models
from explorer.model.model_directory import DirectoryModel
from tests.support.catalog_members import shipped
from tests.support.model_directories import gpt2
from tests.support.multilingual_directories import nllb


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> dict[str, DirectoryModel]:
    """A translator of many languages, a model with a chat template, and one without."""
    folder = tmp_path_factory.mktemp("models")
    nllb(folder / "nllb")
    (gpt2(folder / "chats") / "chat_template.jinja").write_text("{{ messages }}", encoding="utf-8")
    gpt2(folder / "plain")
    return named_models(find_directories([folder]))


def test_the_languages_of_a_model_are_named_once_it_is_open(members):
    assert reading_choices(members["nllb"], "en") is None
    model_cache.model_of(members["nllb"])
    found = reading_choices(members["nllb"], "en")
    assert found is not None
    assert {"code": "fra_Latn", "name": "French · fra_Latn"} in found["languages"]
    assert found["source"] == {"code": "eng_Latn", "name": "English · eng_Latn"}
    assert (found["target"], found["chats"]) == (None, False)
    chinese = reading_choices(members["nllb"], "zh")
    assert chinese is not None
    assert chinese["source"]["name"] == "英语 · eng_Latn"


def test_a_chat_is_offered_where_the_model_has_a_template(members):
    for name in ("chats", "plain"):
        model_cache.model_of(members[name])
    nothing = {"languages": [], "source": None, "target": None}
    assert reading_choices(members["chats"], "en") == {**nothing, "chats": True}
    assert reading_choices(members["plain"], "en") is None
    assert reading_choices(shipped("reverse", "12"), "en") is None
