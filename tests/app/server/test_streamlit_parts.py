import ast
from pathlib import Path

import pytest

from explorer.app.server import streamlit_parts
from explorer.core import folders

ROOT = Path(__file__).parents[3]
SERVERS = ("streamlit", "uvicorn")


def imported(path: Path) -> set[str]:
    """The parts of Streamlit's and uvicorn's own modules that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in SERVERS:
            found |= {f"{node.module}:{alias.name}" for alias in node.names}
    return found


def test_the_list_names_every_part_that_the_package_imports_and_no_other():
    files = [*folders.PACKAGE.rglob("*.py"), ROOT / "app.py"]
    used = set().union(*map(imported, files)) | {"uvicorn.config:HTTP_PROTOCOLS"}
    assert used == set(streamlit_parts.PARTS)


def test_the_newest_version_tried_is_that_of_the_daily_tests():
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert f"streamlit=={streamlit_parts.NEWEST_TRIED}\n" in pinned


def test_nothing_is_said_of_the_version_of_the_daily_tests(capsys):
    streamlit_parts.check()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("part", ["streamlit.proto:Gone", "streamlit.gone.deeper:Any"])
def test_a_version_that_lacks_a_part_ends_the_start_with_a_sentence(part, monkeypatch):
    monkeypatch.setattr(streamlit_parts, "PARTS", (*streamlit_parts.PARTS, part))
    with pytest.raises(SystemExit) as ended:
        streamlit_parts.check()
    assert f"lacks what the app needs: {part}. Install" in str(ended.value)
    assert "缺少" in str(ended.value)


@pytest.mark.parametrize(
    ("installed", "told"), [("1.67.9", False), ("1.68.0", True), ("2.0", True), ("2.0rc1", True)]
)
def test_a_newer_version_is_told_and_starts(installed, told, monkeypatch, capsys):
    monkeypatch.setattr(streamlit_parts, "version", lambda name: installed)
    streamlit_parts.check()
    assert (f"Streamlit {installed} is newer" in capsys.readouterr().err) == told


def test_tables_that_cannot_be_drawn_end_the_start_with_a_sentence(monkeypatch):
    refused = "pyarrow requires NumPy 2.0 or newer, found 1.26.0"

    def import_module(name: str) -> None:
        raise ImportError(refused if name == "pyarrow" else name)

    versions = {"streamlit": streamlit_parts.NEWEST_TRIED, "numpy": "1.26.0"}
    monkeypatch.setattr(streamlit_parts, "version", versions.get)
    monkeypatch.setattr(streamlit_parts, "import_module", import_module)
    with pytest.raises(SystemExit) as ended:
        streamlit_parts.check()
    assert f"({refused})" in str(ended.value)
    assert 'pip install "pyarrow<25"' in str(ended.value)
