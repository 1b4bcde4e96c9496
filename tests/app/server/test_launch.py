import re
import runpy
import socket
from pathlib import Path

import pytest
from streamlit.web import cli

from explorer.app.server import access, launch
from explorer.app.server.launch import ClassModeError


@pytest.fixture
def started(monkeypatch) -> list[str]:
    """The command line with which Streamlit would have been started."""
    command: list[str] = []
    monkeypatch.setattr("sys.argv", ["explorer"])
    monkeypatch.setattr(cli, "main", lambda **_: command.extend(launch.sys.argv))
    return command


def test_the_app_is_started_with_its_entry_script_and_options(started):
    launch.serve({"server.port": 8600})
    assert started[:2] == ["streamlit", "run"]
    assert Path(started[2]).name == "app.py"
    assert Path(started[2]).with_name(".streamlit").is_dir()
    assert started[3:] == ["--server.port=8600"]


def test_class_mode_listens_on_the_network_and_tells_the_host_the_key(started, monkeypatch, capsys):
    monkeypatch.setenv(access.KEY_VARIABLE, "")
    launch.serve_class(8600)
    assert {"--server.address=0.0.0.0", "--server.port=8600"} <= set(started)
    key = launch.os.environ[access.KEY_VARIABLE]
    assert access.is_key(key)
    assert key in capsys.readouterr().out


def test_the_invitation_names_address_and_key_in_both_languages():
    lines = launch.invitation("http://192.0.2.7:8501", "swordfish").splitlines()
    assert len(lines) == 2
    assert all("http://192.0.2.7:8501 " in f"{line} " for line in lines)
    assert all("swordfish" in line for line in lines)


def test_the_address_is_an_ip_address():
    assert re.fullmatch(r"\d+(\.\d+){3}", launch.local_address())


def test_a_free_port_is_found_or_none_is_named(monkeypatch):
    with socket.socket() as busy:
        busy.bind(("", 0))
        busy.listen()
        port = busy.getsockname()[1]
        monkeypatch.setattr(launch, "_FIRST_PORT", port)
        monkeypatch.setattr(launch, "_PORTS", 1)
        with pytest.raises(
            ClassModeError, match=f"No port from {port} to {port} is free"
        ) as raised:
            launch.free_port()
        assert "均被占用" in raised.value.in_language("zh")
    assert launch.free_port() == port


def test_the_module_itself_starts_nothing(monkeypatch):
    monkeypatch.setattr("streamlit.web.cli.main", None)  # a start would fail
    runpy.run_path(str(launch.__file__), run_name="__main__")
