from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.context import ContextProxy

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
def hub_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The cache of the hub, empty."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture(autouse=True)
def no_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing was trained on this machine."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "no runs"))
