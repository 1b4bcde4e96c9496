from pathlib import Path

import pytest
from streamlit.runtime.context import ContextProxy

from explorer.core import folders


@pytest.fixture(autouse=True)
def browser_without_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's AppTest has no browser: it answers with mocks to what is asked of one."""
    monkeypatch.setattr(ContextProxy, "cookies", {})
    monkeypatch.setattr(ContextProxy, "ip_address", "192.0.2.1")


@pytest.fixture(autouse=True)
def no_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing was trained on this machine."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "no runs"))
