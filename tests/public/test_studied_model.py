import doctest
from pathlib import Path

import numpy as np
import pytest

import explorer
from explorer.core.errors import ConfigError, FileError, RemovedError, VocabularyError
from explorer.core.trace import Trace
from explorer.model import explorable as explorable_module
from explorer.model.checkpoint import save_checkpoint
from explorer.model.explorable import ExplorableModel
from explorer.public.head_studies import HeadStudies
from explorer.public.studied_model import StudiedModel, load

ROOT = Path(__file__).parents[2]


def test_a_checkpoint_is_the_same_model_with_more_methods(explorable, tmp_path):
    save_checkpoint(explorable.checkpoint, tmp_path / "tiny.safetensors")
    model = load(tmp_path / "tiny.safetensors")
    assert isinstance(model, StudiedModel)
    assert isinstance(model, ExplorableModel)
    assert isinstance(model, HeadStudies)
    assert model.name == "tiny"
    assert repr(model) == repr(explorable)
    assert model.digest == explorable.digest
    one, other = model.trace("1 2 3"), explorable.trace("1 2 3")
    np.testing.assert_array_equal(one.attention("cross"), other.attention("cross"))
    assert load(tmp_path / "tiny.safetensors", "mine").name == "mine"


@pytest.mark.parametrize("keyword", ["device_map", "max_memory", "offload_folder"])
def test_a_keyword_that_is_gone_is_answered_with_the_two_lines_that_replace_it(keyword):
    with pytest.raises(RemovedError) as caught:
        load("reverse", **{keyword: "auto"})
    for sentence in (str(caught.value), caught.value.in_language("zh")):
        assert f"{keyword}=…" in sentence
        assert "from_pretrained(" in sentence
        assert "explorer.wrap(" in sentence
        assert "copy=False" in sentence
    with pytest.raises(TypeError, match="'device'"):
        load("reverse", device="cpu")


def test_the_examples_of_the_help_of_a_model_run(monkeypatch):
    monkeypatch.chdir(ROOT)
    done = doctest.testmod(explorable_module, extraglobs={"explorer": explorer})
    assert done.failed == 0
    assert done.attempted


def test_a_model_is_written_into_one_file_with_a_text(tmp_path):
    model = load(ROOT / "checkpoints" / "reverse.safetensors")
    path = tmp_path / "live.html"
    model.to_html(path, text="7 3 9", pad=2)
    page = path.read_text("utf-8")
    assert '"opening":{"text":"7 3 9","pad":2}' in page
    assert '"symbols":["1","2","3",' in page
    with pytest.raises(VocabularyError, match="not a symbol"):
        model.to_html(path, text="x")
    for pad in (17, -1, "2", 2.0, True):
        with pytest.raises(ConfigError, match="expected a whole number from 0 to 16"):
            model.to_html(path, pad=pad)
    with pytest.raises(FileError):
        model.to_html(tmp_path / "no" / "folder.html")


def test_a_lone_surrogate_in_a_text_is_written_as_the_model_reads_it(tmp_path):
    model = load(ROOT / "checkpoints" / "english-french.safetensors")
    model.to_html(tmp_path / "live.html", text="a\ud800b")
    assert '"opening":{"text":"a?b","pad":0}' in (tmp_path / "live.html").read_text("utf-8")
    trace = model.trace("a\ud800b")
    assert trace.text == model.trace("a?b").text
    trace.save(tmp_path / "one.trace")
    again = Trace.load(tmp_path / "one.trace")
    assert again.facts["text"] == "a?b"
    assert again.integrity()["ok"].all()
