"""The worked studies under `docs/`: what they print is what the code computes today."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

DOCS = Path(__file__).parent.parent / "docs"
STUDIES = sorted(DOCS.glob("*.ipynb"))

NUMBER = re.compile(r"-?\d+\.\d+")
TOLERANCE = 0.011
"""Printed with two decimals at least, and rounded otherwise on another processor."""


def cells(path: Path) -> Iterator[tuple[str, str]]:
    """The code of each cell, and the value that it printed."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            printed = [out["data"]["text/plain"] for out in cell["outputs"] if "data" in out]
            yield "".join(cell["source"]), "".join("".join(text) for text in printed)


def value_of(code: str, names: dict[str, Any]) -> object:
    """Run a cell; the value of its last line, None for another statement."""
    body = ast.parse(code).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None


def numbers(text: str) -> list[float]:
    return [float(found) for found in NUMBER.findall(text)]


def words(text: str) -> list[str]:
    return NUMBER.sub("#", text).split()


@pytest.fixture
def display_options() -> Iterator[None]:
    """A study sets how wide tables are printed, for the whole process."""
    yield
    pd.reset_option("^display")


def test_there_are_the_five_studies():
    names = ("english-french", "induction", "name", "number", "reverse")
    assert [path.stem for path in STUDIES] == [f"study-{name}" for name in names]


@pytest.mark.usefixtures("display_options")
@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_study_prints_what_is_computed(path, monkeypatch):
    monkeypatch.chdir(DOCS)
    names: dict[str, Any] = {}
    compared = 0
    for code, printed in cells(path):
        value = value_of(code, names)
        if value is None:
            continue
        assert words(repr(value)) == words(printed), code
        assert numbers(repr(value)) == pytest.approx(numbers(printed), abs=TOLERANCE), code
        compared += len(numbers(printed))
    assert compared > 80
