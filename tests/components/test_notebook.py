import re
import sys
import webbrowser
from html import unescape
from pathlib import Path
from types import ModuleType, SimpleNamespace
from urllib.parse import urlparse
from urllib.request import url2pathname

import numpy as np
import pytest

import explorer
from explorer.components.html_export import html_page
from explorer.core.trace import Trace


@pytest.fixture
def trace() -> Trace:
    return Trace.from_arrays(("a",), ("<bos>",), cross=np.ones((1, 1, 1, 1), np.float32))


def test_outside_a_notebook_the_page_opens_in_the_browser(trace, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    explorer.show(trace)
    file = Path(url2pathname(urlparse(opened[0]).path))
    assert file.read_text(encoding="utf-8") == html_page(trace)
    file.unlink()


def test_in_a_notebook_the_page_appears_in_a_frame_of_its_own(trace, monkeypatch):
    shown: list[str] = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    display.HTML, display.display = str, shown.append
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    explorer.show(trace, language="zh", height=500)
    found = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" style="[^"]*height: 500px[^"]*"></iframe>', shown[0]
    )
    assert found is not None
    assert unescape(found[1]) == html_page(trace, "zh")
