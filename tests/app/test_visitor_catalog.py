"""The models and traces that a visitor may choose from."""

import json
import os
import shutil
from pathlib import Path

import pytest
import streamlit as st

from explorer.app import model_cache, visitor_catalog
from explorer.app.server import fetch_route
from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.app.visitor_catalog import (
    UploadError,
    model_directories,
    model_of_run,
    trained_models,
)
from explorer.components.labels import describe
from explorer.core import folders
from explorer.core.errors import ExplorerError
from explorer.core.look import Look, Request
from explorer.jobs.training_run import Run
from explorer.model import catalog
from explorer.model.listed_model import TextKind
from tests.support.catalog_members import shipped, uploaded
from tests.support.finished_runs import finished_run
from tests.support.hub_cache import version
from tests.support.huggingface_families import saved, tiny_model
from tests.support.model_directories import gpt2

SHIPPED = {
    "reverse": shipped("reverse", "123", task="reverse"),
    "letters": shipped("letters", "abc"),
}


@pytest.fixture
def visit(monkeypatch) -> None:
    """A session that has just opened the first model."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(catalog, "shipped_models", lambda: SHIPPED)
    session.save(Look(Request("reverse", "1 2", 2)))


def test_uploads_get_names_of_their_own_and_are_limited(visit):
    names = []
    for number in range(visitor_catalog.MOST_UPLOADS):
        names.append(visitor_catalog.add_upload(uploaded("letters", f"upload {number}")))
    assert names == ["letters (2)", "letters (3)", "letters (4)", "letters (5)"]
    assert list(visitor_catalog.visitor_catalog()) == ["reverse", "letters", *names]
    assert visitor_catalog.add_upload(uploaded("letters", "upload 0")) == "letters (2)"
    with pytest.raises(UploadError, match="delete a file first") as raised:
        visitor_catalog.add_upload(uploaded("more", "another"))
    assert "4 个文件" in raised.value.in_language("zh")


def test_a_refused_file_is_noted_until_the_next_one(visit):
    error = UploadError("too_many_uploads", limit=4)
    visitor_catalog.refuse_upload(error)
    visitor_catalog.add_upload(uploaded("mine", "upload"))
    assert visitor_catalog.refused_upload() is visitor_catalog.refused_upload() is error
    visitor_catalog.refuse_upload(None)
    assert visitor_catalog.refused_upload() is None
    assert list(visitor_catalog.uploads()) == ["mine"]


def test_deleting_the_chosen_upload_chooses_the_first_model(visit):
    name = visitor_catalog.add_upload(uploaded("mine", "upload"))
    visit_state.choose_model(name, visitor_catalog.visitor_catalog())
    assert visit_state.current().request == Request("mine", "a a a", 2)
    visitor_catalog.delete_upload(name)
    assert visitor_catalog.uploads() == {}
    assert visit_state.current().request.model == "reverse"


def test_the_deletion_of_another_upload_changes_nothing(visit):
    visitor_catalog.add_upload(uploaded("mine", "upload"))
    visitor_catalog.delete_upload("mine")
    assert visit_state.current().request == Request("reverse", "1 2", 2)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two finished runs, the older one called as a model that ships."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    for created, name in ((1.0, "reverse"), (2.0, "own-2")):
        set_created(finished_run(tmp_path / name), created)
    return tmp_path


def set_created(run: Run, created: float) -> None:
    path = run.folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"created": created}))


@pytest.fixture
def run(root: Path) -> Run:
    return Run(root / "own-2")


def test_runs_stand_after_the_shipped_models_the_newest_first(root):
    assert list(trained_models()) == ["own-2", "reverse"]
    assert list(visitor_catalog.visitor_catalog()) == [
        *catalog.shipped_models(),
        "own-2",
        "runs/reverse",
    ]


def test_a_trained_model_has_the_name_of_its_run(root):
    shown = describe(trained_models({"own-2"})["runs/own-2"], "en")
    assert shown == "own-2 · 2+2 layers · 2 heads · 50.0 % right · trained here"
    assert "本机训练" in describe(trained_models({"own-2"})["runs/own-2"], "zh")


def test_the_best_checkpoint_comes_first(run):
    assert model_of_run(run).path == run.best_path
    run.best_path.unlink()
    assert model_of_run(run).path == run.checkpoint_path


def test_a_run_that_goes_on_training_has_another_stamp(run):
    before = model_of_run(run)
    os.utime(run.best_path, ns=(1, 1))
    assert model_of_run(run).stamp != before.stamp


def test_a_run_without_a_model_or_with_damaged_files_is_not_listed(root, run):
    run.best_path.write_bytes(b"half a file")
    (root / "reverse" / "config.json").write_text("[]")
    assert trained_models() == {}
    with pytest.raises(ExplorerError):
        model_of_run(run)
    shutil.rmtree(run.folder)
    assert trained_models() == {}
    with pytest.raises(ExplorerError):
        model_of_run(run)


def test_a_name_that_no_run_has_is_not_listed(root):
    shutil.copytree(root / "own-2", root / "a b")
    assert "a b" not in trained_models()


def test_nothing_is_listed_unless_folders_are_named(monkeypatch):
    monkeypatch.delenv(folders.MODELS_VARIABLE, raising=False)
    assert model_directories() == {}


def test_the_models_below_the_named_folders_are_listed(model_folder, monkeypatch):
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    listed = model_directories()
    assert list(listed) == ["bert-tiny", "gpt-tiny", "opus-tiny"]
    kinds = [model.kind for model in listed.values()]
    assert kinds == [TextKind.MASKED, TextKind.PROMPT, TextKind.SENTENCE]
    taken = model_directories({"bert-tiny"})
    assert f"{model_folder.name}/bert-tiny" in taken


@pytest.fixture
def without_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose tokenizer the library builds without entries, because files are missing."""
    folder = saved(tiny_model("bert"), tmp_path / "bert")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(tmp_path))


def test_a_known_model_in_the_cache_of_the_hub_is_listed_and_nothing_else_of_it(
    hub_cache, visit, monkeypatch
):
    for folder in ("models--gpt2", "models--an-owner--other"):
        gpt2(version(hub_cache, folder))
    monkeypatch.setattr(fetch_route, "answers_this_machine_alone", lambda: True)
    assert list(visitor_catalog.visitor_catalog()) == [*SHIPPED, "gpt2"]
    assert visitor_catalog.open_fetched({"fetched": {"open": "gpt2"}})
    assert visit_state.current().request.model == "gpt2"
    assert not visitor_catalog.open_fetched({"fetched": None, "look": {}})
    monkeypatch.setattr(fetch_route, "answers_this_machine_alone", lambda: False)
    assert list(visitor_catalog.visitor_catalog()) == [*SHIPPED]


@pytest.mark.parametrize("name", ["", "an-owner/other", None])
def test_a_browser_that_reports_no_listed_model_opens_none(name, visit):
    assert visitor_catalog.open_fetched({"fetched": {"open": name}})
    assert visit_state.current().request == Request("reverse", "1 2", 2)


def test_a_loaded_model_that_goes_on_by_ids_is_known_to(without_entries):
    assert model_directories()["bert"].kind == TextKind.MASKED
    model_cache.model_of(model_directories()["bert"])
    member = model_directories()["bert"]
    assert member.kind == TextKind.IDS
    assert member.reads(member.examples[0])
