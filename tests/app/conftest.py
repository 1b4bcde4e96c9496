from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from explorer.app import mount
from explorer.app.server import access, page_limit
from explorer.app.server.key_attempts import KeyAttempts
from explorer.app.server.rate_limit import RateLimiter
from explorer.app.state import visitor
from explorer.core import folders


@pytest.fixture(autouse=True)
def browser_without_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's AppTest has no browser: it answers with mocks to what is asked of one."""
    monkeypatch.setattr(ContextProxy, "cookies", {})
    monkeypatch.setattr(ContextProxy, "ip_address", "192.0.2.1")


@pytest.fixture(autouse=True)
def own_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to Streamlit 1.65 a component is known only to the AppTest in which it was registered."""
    begin = AppTest.__init__

    def begin_anew(app: AppTest, *arguments: Any, **options: Any) -> None:
        mount._component.cache_clear()
        mount._focus.cache_clear()
        mount._host_cookie.cache_clear()
        begin(app, *arguments, **options)

    monkeypatch.setattr(AppTest, "__init__", begin_anew)


@pytest.fixture(autouse=True)
def no_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing was trained on this machine."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "no runs"))


@pytest.fixture(autouse=True)
def no_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has sent a request yet: every AppTest is the same session of the same address."""
    monkeypatch.setattr(visitor, "_limiter", RateLimiter(owners=99))
    monkeypatch.setattr(visitor, "_key_attempts", KeyAttempts(addresses=99))
    monkeypatch.setattr(page_limit, "_pages", RateLimiter(owners=99))
    monkeypatch.setattr(access, "_hosts", set())
