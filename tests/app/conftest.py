import pytest
from streamlit.runtime.context import ContextProxy


@pytest.fixture(autouse=True)
def browser_without_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's AppTest has no browser: it answers with mocks to what is asked of one."""
    monkeypatch.setattr(ContextProxy, "cookies", {})
    monkeypatch.setattr(ContextProxy, "ip_address", "192.0.2.1")
