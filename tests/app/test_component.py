import re
import subprocess
import sys

import streamlit as st

from explorer.app.component import component
from explorer.components.bundle import components_address


def test_a_component_is_declared_once():
    assert component("words") is component("words")


def test_a_component_loads_the_script_of_all_components_by_its_digest(monkeypatch):
    declared = {}
    monkeypatch.setattr(st.components.v2, "component", lambda name, **parts: declared.update(parts))
    component.__wrapped__("chart")
    assert f'import(new URL("{components_address()}", document.baseURI))' in declared["js"]
    assert "export default all.chart ??" in declared["js"]
    assert re.fullmatch(r"components\.js\?[0-9a-f]{16}", components_address())


def test_the_frame_of_all_pages_imports_nothing_slow_for_it():
    slow = "{'torch', 'pandas', 'numpy'} & {*sys.modules}"
    script = f"import sys, explorer.app.component; print(*{slow})"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
