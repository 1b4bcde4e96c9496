import errno
import re
import runpy
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import uvicorn.config
from starlette.applications import Starlette
from starlette.requests import Request
from streamlit.web import cli

from explorer.app.server import access, guest_limits, launch, server_address
from explorer.app.server.connection_limits import LimitedProtocol
from explorer.app.server.launch import StartError
from explorer.app.server.rate_limit import address_of
from explorer.core import folders
from explorer.core.i18n import say
from tests.support.app_server import running_app
from tests.support.own_loop import run_alone


@pytest.fixture
def started(monkeypatch, tmp_path) -> list[str]:
    """The command line with which Streamlit would have been started."""
    command: list[str] = []
    monkeypatch.setenv(folders.STATE_VARIABLE, str(tmp_path))
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setattr("sys.argv", ["explorer"])
    monkeypatch.setattr(cli, "main", lambda **_: command.extend(launch.sys.argv))
    return command


def test_the_app_is_started_with_its_entry_script_and_options(started):
    launch.serve({"server.port": 8600})
    assert started[:2] == ["streamlit", "run"]
    assert Path(started[2]).name == "app.py"
    assert Path(started[2]).with_name(".streamlit").is_dir()
    assert started[3:] == ["--server.port=8600"]


def test_connections_are_limited(started, monkeypatch):
    monkeypatch.setitem(uvicorn.config.HTTP_PROTOCOLS, "auto", "")
    launch.serve({})
    config = uvicorn.Config(Starlette(), log_config=None)
    config.load()
    assert config.http_protocol_class is LimitedProtocol


@pytest.mark.skipif(sys.platform == "win32", reason="has no uvloop")
def test_several_connections_are_accepted_in_a_turn(started, monkeypatch):
    monkeypatch.setitem(uvicorn.config.LOOP_FACTORIES, "auto", "")
    launch.serve({})
    from explorer.app.server.accepting_loop import AcceptingLoop

    assert uvicorn.Config(Starlette(), log_config=None).get_loop_factory() is AcceptingLoop


@pytest.mark.parametrize(
    ("proxies", "sender", "found"),
    [
        (None, "127.0.0.1", ("127.0.0.1", "http")),  # anybody on this computer may send the header
        (None, "::1", ("::1", "http")),
        ("127.0.0.1", "127.0.0.1", ("192.0.2.7", "https")),
        ("127.0.0.1", "192.0.2.1", ("192.0.2.1", "http")),
    ],
)
def test_a_forwarded_address_is_believed_of_a_proxy_that_is_named(
    proxies, sender, found, started, monkeypatch
):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", proxies or "")
    if proxies is None:
        monkeypatch.delenv("FORWARDED_ALLOW_IPS")
    seen = []

    async def app(scope, _receive, _send):
        seen.append((address_of(Request(scope)), scope["scheme"]))

    launch.serve({})
    config = uvicorn.Config(app, log_config=None)
    config.load()
    headers = [(b"x-forwarded-for", b"192.0.2.7"), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "scheme": "http", "headers": headers, "client": (sender, 1)}
    run_alone(config.loaded_app(scope, None, None))
    assert seen == [found]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
@pytest.mark.parametrize(
    ("limits", "changed"),
    [((256, 9000), (8192, 9000)), ((256, 500), (500, 500)), ((9000, -1), None)],
)
def test_a_class_may_open_many_connections(limits, changed, started, monkeypatch):
    import resource

    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: asked.append(both))
    launch.serve({})
    assert asked == ([changed] if changed else [])


def test_class_mode_listens_on_the_network_and_tells_the_host_key_and_link(
    started, monkeypatch, capsys
):
    monkeypatch.setenv(access.KEY_VARIABLE, "")
    launch.serve_class(8600)
    assert {"--server.address=0.0.0.0", "--server.port=8600"} <= set(started)
    key = launch.os.environ[access.KEY_VARIABLE]
    assert access.is_key(key)
    printed = capsys.readouterr().out
    assert key in printed
    (ticket,) = set(re.findall(r":8600/host#(\w+)$", printed, re.MULTILINE))
    assert access.take_ticket(ticket)
    assert key not in ticket


def test_a_class_started_again_has_its_key_and_another_link(started, monkeypatch, capsys):
    def start(port: int = 8600, *, new_key: bool = False) -> tuple[str, str]:
        monkeypatch.setenv(access.KEY_VARIABLE, "")  # of another process
        launch.serve_class(port, new_key=new_key)
        (ticket,) = set(re.findall(r"/host#(\w+)$", capsys.readouterr().out, re.MULTILINE))
        return launch.os.environ[access.KEY_VARIABLE], ticket

    key, ticket = start()
    again, other = start()
    assert again == key
    assert other != ticket
    assert start(8601)[0] != key
    anew = start(new_key=True)[0]
    assert anew != key
    assert start()[0] == anew


def test_whoever_hosts_a_class_may_give_its_key(started, monkeypatch, capsys):
    monkeypatch.setenv(access.KEY_VARIABLE, "made-at-random")
    launch.serve_class(8600)
    assert launch.os.environ[access.KEY_VARIABLE] == "made-at-random"
    assert "made-at-random" in capsys.readouterr().out
    launch.serve_class(8600, new_key=True)
    assert launch.os.environ[access.KEY_VARIABLE] != "made-at-random"


def test_a_given_key_that_is_short_is_refused(started, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    with pytest.raises(StartError, match="at least 12 characters") as refused:
        launch.serve_class(8600)
    assert "swordfish" not in str(refused.value)
    assert not started


@pytest.mark.skipif(sys.platform == "win32", reason="has no variable of it")
@pytest.mark.parametrize(
    ("locale", "language"), [("en_US.UTF-8", "en"), ("zh_CN.UTF-8", "zh"), ("C", "en")]
)
def test_a_class_is_told_first_and_its_host_apart_in_the_language_of_the_terminal(
    locale, language, started, monkeypatch, capsys
):
    monkeypatch.setenv("LC_ALL", locale)
    monkeypatch.setenv(access.KEY_VARIABLE, "made-at-random")
    launch.serve_class(8600, name="class.example.org")
    of_class, of_host = capsys.readouterr().out.split("\n\n")
    code, address = of_class.rsplit("\n", 1)
    url = "http://class.example.org:8600"
    assert {"█", "▀"} < set(code)
    assert address == say("classroom.invitation", language, address=url)
    link, key, warning = of_host.strip().splitlines()
    ticket = link.rpartition("#")[2]
    assert access.take_ticket(ticket)
    assert link == say("classroom.host_link", language, link=f"{url}/host#{ticket}")
    assert key == say("classroom.host_key", language, address=url, secret="made-at-random")
    assert warning == say("classroom.plain_http", language)


def test_the_code_in_the_terminal_is_the_guests_(started, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "")
    codes = []
    made = launch.segno.make
    monkeypatch.setattr(launch.segno, "make", lambda url, **_: codes.append(url) or made(url))
    port = launch.free_port("127.0.0.1")
    launch.serve_class(port, "127.0.0.1")
    assert codes == [f"http://127.0.0.1:{port}"]


def test_class_mode_honours_port_address_and_name(started, monkeypatch, capsys):
    monkeypatch.setenv(access.KEY_VARIABLE, "")
    port = launch.free_port("127.0.0.1")
    launch.serve_class(port, "127.0.0.1", "class.example.org")
    assert {"--server.address=127.0.0.1", f"--server.port={port}"} <= set(started)
    assert "--browser.serverAddress=class.example.org" in started
    printed = capsys.readouterr().out
    assert f"http://class.example.org:{port} on this computer; no other device can" in printed


def test_class_mode_honours_streamlit_s_settings(started, monkeypatch, capsys):
    monkeypatch.setenv(access.KEY_VARIABLE, "")
    port = launch.free_port("127.0.0.1")
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "127.0.0.1")
    monkeypatch.setenv("STREAMLIT_SERVER_PORT", str(port))
    monkeypatch.setenv("STREAMLIT_BROWSER_SERVER_ADDRESS", "class.example.org")
    launch.serve_class()
    assert {"--server.address=127.0.0.1", f"--server.port={port}"} <= set(started)
    assert f"http://class.example.org:{port} " in capsys.readouterr().out


@pytest.mark.parametrize("guests", [1, 300, 4096])
def test_a_class_may_have_other_numbers_of_guests_at_one_address(guests, started, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "")
    monkeypatch.setenv(guest_limits.VARIABLE, "")
    launch.serve_class(guests=guests)
    assert guest_limits.pages_of_address() == guests


@pytest.mark.parametrize("guests", [0, -1, 4097])
def test_a_number_of_guests_that_no_class_can_have_is_refused(guests, started):
    with pytest.raises(StartError, match=f"{guests} is no number of guests.* from 1 to 4096"):
        launch.serve_class(guests=guests)
    assert not started


def test_class_mode_says_that_it_is_plain_http(started, monkeypatch, capsys):
    monkeypatch.setenv(access.KEY_VARIABLE, "")
    launch.serve_class()
    assert "plain http" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, "192.0.2.1"), "no address 192.0.2.1"),
        ((None, "no such host"), "no address no such host"),
        ((None, "", "http://x.org"), "no name of a computer"),
        ((None, "", "x.org:80"), "no name of a computer"),
        ((None, "", "<b>"), "no name of a computer"),
    ],
)
def test_class_mode_refuses_what_it_cannot_listen_on(started, arguments, message):
    with pytest.raises(StartError, match=message):
        launch.serve_class(*arguments)
    assert not started


def test_a_taken_port_is_named(started):
    with socket.socket() as busy:
        busy.bind(("", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(StartError, match=f"Port {port} is taken"):
            launch.serve_class(port)
    assert not started


def test_a_port_taken_by_this_app_is_said_to_be(started):
    with running_app() as address:
        port = int(address.rstrip("/").rsplit(":", 1)[1])
        with pytest.raises(StartError) as raised:
            launch.serve_alone(port)
    assert f"already runs on port {port}: open {address.rstrip('/')}," in str(raised.value)
    assert not started


def test_another_server_on_the_port_is_not_taken_for_this_app(started):
    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(server_address.SCRIPT.read_bytes() + b"//")

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Foreign) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(StartError, match="taken by another program"):
            launch.serve_alone(server.server_port)
        server.shutdown()
    assert not started


WAYS = [launch.serve_alone, launch.serve_class]


@pytest.mark.parametrize("serve", WAYS)
@pytest.mark.parametrize("port", [-1, 0, 65_536, 99_999, int("9" * 300)])
def test_what_is_no_port_is_refused_in_one_sentence(started, serve, port, monkeypatch):
    shown = f"{port}"[:9]
    with pytest.raises(StartError, match=rf"{shown}.* is no port; .* 1 to 65535") as refused:
        serve(port)
    assert len(str(refused.value)) < 150
    assert not started


@pytest.mark.parametrize("serve", WAYS)
@pytest.mark.parametrize("wanted", ["0", "-1", "99999", "http", "9" * 5000])
def test_what_is_no_port_in_the_environment_is_refused(started, serve, wanted, monkeypatch):
    monkeypatch.setenv("STREAMLIT_SERVER_PORT", wanted)
    with pytest.raises(StartError, match="is no port"):
        serve()
    assert not started


@pytest.mark.parametrize("serve", WAYS)
def test_a_port_without_the_right_to_listen_is_refused(started, serve, monkeypatch):
    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(launch.socket.socket, "bind", denied)
    with pytest.raises(StartError, match="does not let this account listen on port 80;"):
        serve(80)
    assert not started


def test_one_person_s_taken_port_is_named(started):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(StartError, match=f"Port {port} is taken"):
            launch.serve_alone(port)
    assert not started


def test_one_person_s_app_is_no_class_whatever_the_environment_says(started, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish-swordfish")
    launch.serve_alone()
    assert started
    assert not access.is_class_mode()


@pytest.mark.parametrize(("path", "shown"), [("attn", "/attn "), ("/a/b/", "/a/b "), ("", " ")])
def test_the_address_to_join_has_the_base_path(started, path, shown, monkeypatch, capsys):
    monkeypatch.setenv(access.KEY_VARIABLE, "")
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", path)
    codes = []
    made = launch.segno.make
    monkeypatch.setattr(launch.segno, "make", lambda url, **_: codes.append(url) or made(url))
    port = launch.free_port("127.0.0.1")
    launch.serve_class(port, "127.0.0.1")
    assert f"http://127.0.0.1:{port}{shown}" in capsys.readouterr().out
    assert codes == [f"http://127.0.0.1:{port}{shown.strip()}"]


def test_an_ipv6_address_is_written_in_brackets(started, monkeypatch, capsys):
    monkeypatch.setattr(launch, "_refusal", lambda address, port: "")
    monkeypatch.setenv(access.KEY_VARIABLE, "")
    launch.serve_class(8600, "::1")
    assert "http://[::1]:8600 on this computer" in capsys.readouterr().out


def test_the_address_is_an_ip_address():
    assert re.fullmatch(r"\d+(\.\d+){3}", launch.local_address())


def test_a_free_port_is_found_or_none_is_named(monkeypatch):
    with socket.socket() as busy:
        busy.bind(("", 0))
        busy.listen()
        port = busy.getsockname()[1]
        monkeypatch.setattr(launch, "_FIRST_PORT", port)
        monkeypatch.setattr(launch, "_PORTS", 1)
        with pytest.raises(StartError, match=f"No port from {port} to {port} is free") as raised:
            launch.free_port()
        assert "均被占用" in raised.value.in_language("zh")
    assert launch.free_port() == port


def test_the_module_itself_starts_nothing(monkeypatch):
    monkeypatch.setattr("streamlit.web.cli.main", None)  # a start would fail
    runpy.run_path(str(launch.__file__), run_name="__main__")
