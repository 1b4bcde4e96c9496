import re

import pytest

from explorer.app.server.access import (
    KEY_VARIABLE,
    Rights,
    is_key,
    qr_code,
    rights,
)


@pytest.fixture
def key(monkeypatch) -> str:
    """Class mode with this host's key."""
    monkeypatch.setenv(KEY_VARIABLE, "swordfish")
    return "swordfish"


def test_outside_class_mode_every_visitor_may_do_everything(monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert rights(host=False) == Rights(change=True, unlimited=True)
    assert not is_key("")


def test_in_class_mode_only_the_host_changes_files(key):
    assert rights(host=False) == Rights(change=False, unlimited=False)
    assert rights(host=True) == Rights(change=True, unlimited=True)


@pytest.mark.parametrize("word", ["", "Swordfish", "swordfish1", "密钥"])
def test_another_word_is_not_the_key(key, word):
    assert not is_key(word)


def test_the_key_may_be_pasted_with_a_space(key):
    assert is_key(" swordfish\n")


def test_the_qr_code_has_no_script_and_no_link():
    code = qr_code("http://192.0.2.7:8501/")
    assert code.startswith("<svg")
    assert not re.search(r"<script|href|\bon\w+=", code)
