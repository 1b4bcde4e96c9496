import re
import runpy
import socket

import pytest

from explorer.app.server import access
from explorer.app.server.access import (
    KEY_VARIABLE,
    ClassModeError,
    Rights,
    invitation,
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


def test_the_qr_code_is_a_picture_that_says_nothing_but_the_address():
    code = qr_code("http://192.0.2.7:8501/")
    assert code.startswith("<svg")
    assert not re.search(r"<script|href|\bon\w+=", code)


def test_the_invitation_names_address_and_key_in_both_languages():
    lines = invitation("http://192.0.2.7:8501", "swordfish").splitlines()
    assert len(lines) == 2
    assert all("http://192.0.2.7:8501 " in f"{line} " for line in lines)
    assert all("swordfish" in line for line in lines)


def test_the_address_is_an_ip_address():
    assert re.fullmatch(r"\d+(\.\d+){3}", access.local_address())


def test_a_free_port_is_found_or_none_is_named(monkeypatch):
    with socket.socket() as busy:
        busy.bind(("", 0))
        busy.listen()
        port = busy.getsockname()[1]
        monkeypatch.setattr(access, "_FIRST_PORT", port)
        monkeypatch.setattr(access, "_PORTS", 1)
        with pytest.raises(
            ClassModeError, match=f"No port from {port} to {port} is free"
        ) as raised:
            access.free_port()
        assert "均被占用" in raised.value.in_language("zh")
    assert access.free_port() == port


def test_the_module_itself_starts_nothing(monkeypatch):
    monkeypatch.setattr("streamlit.web.cli.main", None)  # whoever starts the app fails
    runpy.run_path(str(access.__file__), run_name="__main__")
