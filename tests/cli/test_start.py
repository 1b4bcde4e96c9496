import pytest

from explorer.__main__ import main
from explorer.app.server import launch


@pytest.mark.parametrize(
    ("arguments", "options"),
    [([], {}), (["start"], {}), (["start", "--port", "8600"], {"server.port": 8600})],
)
def test_the_app_is_served(arguments, options, monkeypatch):
    served = []
    monkeypatch.setattr(launch, "serve", lambda given: served.append(given) or 0)
    assert main(arguments) == 0
    assert served == [options]


@pytest.mark.parametrize(
    ("arguments", "served"),
    [
        ([], (None, "", "")),
        (["--port", "8600"], (8600, "", "")),
        (["--address", "127.0.0.1", "--name", "x.org"], (None, "127.0.0.1", "x.org")),
    ],
)
def test_a_class_is_served_where_the_options_say(arguments, served, monkeypatch):
    calls = []
    monkeypatch.setattr(launch, "serve_class", lambda *given: calls.append(given) or 0)
    assert main(["class", *arguments]) == 0
    assert calls == [served]


def test_the_options_of_both_are_listed(capsys):
    for command, options in {
        "start": ["--port"],
        "class": ["--port", "--address", "--name"],
    }.items():
        with pytest.raises(SystemExit):
            main([command, "--help"])
        printed = capsys.readouterr().out
        assert all(option in printed for option in options)
