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


def test_a_class_is_served_on_the_given_port(monkeypatch):
    ports = []
    monkeypatch.setattr(launch, "serve_class", lambda port: ports.append(port) or 0)
    assert main(["class", "--port", "8600"]) == 0
    assert main(["class"]) == 0
    assert ports == [8600, None]
