"""Session state, and that no other module touches it or the URL."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import streamlit as st

import explorer.app
from explorer.app.state import address_bar, session

FOLDER = Path(explorer.app.__file__).parent


@dataclass(frozen=True)
class Numbers:
    one: int = 1


@pytest.fixture(autouse=True)
def state(monkeypatch) -> dict:
    state: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


def test_a_state_has_its_defaults_until_it_is_saved():
    assert session.find(Numbers) is None
    assert session.load(Numbers) == Numbers()
    assert session.find(Numbers) is None
    session.save(Numbers(2))
    assert session.load(Numbers) == session.find(Numbers) == Numbers(2)


def test_a_widget_has_one_key_a_language(state):
    keys = [session.shown_as("model", language, "sort") for language in ("en", "zh")]
    assert keys == ["model-en", "model-zh"]
    assert [session.widget_value(key) for key in keys] == ["sort", "sort"]


def test_a_value_chosen_elsewhere_comes_in_a_new_widget(state):
    key = session.shown_as("model", "en", "sort")
    state[key] = "copy"  # the visitor's choice
    assert session.shown_as("model", "en", "copy") == key
    others = [session.shown_as("model", "en", name) for name in ("sort", "sort", "reverse")]
    assert others == ["model-en-2", "model-en-2", "model-en-3"]
    assert session.shown_as("model", "zh", "reverse") == "model-zh"


def test_only_the_widget_on_screen_is_read(state):
    read = []
    before = session.shown_as("model", "en", "sort")
    session.read_choice(before, read.append)
    now = session.shown_as("model", "en", "copy")
    session.read_choice(before, read.append)
    session.read_choice(now, read.append)
    assert read == ["sort", "copy"]
    assert session.widget_value("source-en") is None


@pytest.mark.parametrize(
    ("name", "module"), [("session_state", session), ("query_params", address_bar)]
)
def test_one_module_alone_reads_and_writes(name, module):
    word = re.compile(rf"\bst\.{name}\b")
    users = [path for path in FOLDER.rglob("*.py") if word.search(path.read_text("utf-8"))]
    assert users == [Path(str(module.__file__))]
