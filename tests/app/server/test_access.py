import re

import pytest

from explorer.app.server import access
from explorer.app.server.access import (
    KEY_VARIABLE,
    is_key,
    issue_ticket,
    qr_code,
    take_ticket,
)


@pytest.fixture
def key(monkeypatch) -> str:
    """Class mode with this host's key."""
    monkeypatch.setenv(KEY_VARIABLE, "swordfish")
    monkeypatch.setattr(access, "_tickets", set())
    return "swordfish"


def test_outside_class_mode_there_is_no_host(monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert not is_key("")


def test_a_ticket_is_good_once(key):
    word = issue_ticket()
    assert not take_ticket(f"{word}0")
    assert take_ticket(word)
    assert not take_ticket(word)


def test_a_ticket_is_not_of_another_start_with_the_same_key(key, monkeypatch):
    word = issue_ticket()
    monkeypatch.setattr(access, "_tickets", set())
    assert not take_ticket(word)
    assert issue_ticket() != word


@pytest.mark.parametrize("word", ["", "Swordfish", "swordfish1", "密钥"])
def test_another_word_is_not_the_key(key, word):
    assert not is_key(word)


def test_the_key_may_be_pasted_with_a_space(key):
    assert is_key(" swordfish\n")


def test_the_qr_code_has_no_script_and_no_link():
    code = qr_code("http://192.0.2.7:8501/")
    assert code.startswith("<svg")
    assert not re.search(r"<script|href|\bon\w+=", code)
