"""The numbers in tables of the documents, so that tests hold them to what is measured."""

import re
from pathlib import Path

MEASURES = Path(__file__).parents[2] / "docs" / "measures.md"


def rows_below(heading: str) -> list[list[int]]:
    """The rows of numbers and percentages of the table below a heading of `measures.md`."""
    text = MEASURES.read_text(encoding="utf-8")
    section = text.split(f"### {heading}\n")[1].split("\n#")[0]
    rows = re.findall(r"^\|(?: \d+(?: %)? \|)+$", section, re.MULTILINE)
    return [[int(number) for number in re.findall(r"\d+", row)] for row in rows]
