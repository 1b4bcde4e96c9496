from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.context import ContextProxy

from explorer.app.server import access, rate_limit
from explorer.app.server.key_attempts import KeyAttempts
from explorer.app.server.rate_limit import RateLimiter
from explorer.app.state import visitor
from explorer.core import folders


@pytest.fixture(scope="session", autouse=True)
def no_installed_components() -> Iterator[None]:
    """No package brings components. AppTest would read what every installed package says of itself
    when a page opens, which takes three times as long as the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", list)
        yield


@pytest.fixture(autouse=True)
def browser_without_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's AppTest has no browser: it answers with mocks to what is asked of one."""
    monkeypatch.setattr(ContextProxy, "cookies", {})
    monkeypatch.setattr(ContextProxy, "ip_address", "192.0.2.1")


@pytest.fixture(autouse=True)
def no_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing was trained on this machine."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "no runs"))


@pytest.fixture(autouse=True)
def no_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has sent a request yet: every AppTest is the same session of the same address."""
    monkeypatch.setattr(rate_limit, "_computing", RateLimiter(owners=99))
    monkeypatch.setattr(visitor, "_key_attempts", KeyAttempts(addresses=99))
    monkeypatch.setattr(rate_limit, "_pages", RateLimiter(owners=99))
    monkeypatch.setattr(access, "_hosts", set())
