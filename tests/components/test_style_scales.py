"""The style sheets of the components take sizes of type, radii and heights from their scales."""

import re

import pytest

from explorer.components.bundle import BUNDLES
from explorer.core.folders import PACKAGE

SHEETS = sorted(BUNDLES.parent.glob("*/css/*.css"))

TYPE = {"--small", "--type", "--lead", "--large", "--huge", "--page-type", "--page-small"}
FIXED = {"env(--small-type)", "env(--projector-type)", "1rem", "15px", "inherit"}
"""Of what is as large on a projector, of a field on a phone, and of three words beside a title."""
RADII = {"env(--corner-small)", "env(--corner)", "env(--corner-large)"}
SPACING = re.compile(
    r"(?<![-\w])(?:(?:scroll-)?(?:margin|padding)[-a-z]*|(?:row-|column-)?gap|border-spacing"
    r"|inset[-a-z]*|top|right|bottom|left): ([^;{}]+)"
)
LENGTH = re.compile(r"(-?[\d.]*\d)(px|rem)")
REM = 16
"""px"""
EXACT = {("rail.css", "-0.5px"), ("main.css", "1.85rem")}
"""Half of a pixel that rounding leaves over, and the height of a label with its margin."""


def values(name: str) -> dict[str, str]:
    """Every value of a property, and a sheet that has it."""
    return {
        value: sheet.name
        for sheet in SHEETS
        for value in re.findall(rf"{name}: ([^;]+);", sheet.read_text("utf-8"))
    }


def test_type_has_a_named_size_and_other_fonts_one_beside_their_text():
    named = {f"var({name})" for name in TYPE} | FIXED
    others = {value for value in values("font-size") if value not in named}
    beside = r"[\d.]+em|max\([\d.]+em, 12px\)"  # formulas, monospaced bytes, the icons of the steps
    assert [value for value in others if not re.fullmatch(beside, value)] == []
    assert len(others) <= 6


def test_corners_have_one_of_three_radii():
    parts = {part for value in values("border-radius") for part in value.split()}
    assert parts - RADII <= {"0", "50%"}


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_heights_of_a_window_are_named(sheet):
    queries = re.findall(r"@media([^{]+)", sheet.read_text("utf-8"))
    assert [one for one in queries if re.search(r"height\D*\d", one)] == []


@pytest.mark.parametrize(
    "sheet", [*SHEETS, PACKAGE / "app" / "main.css"], ids=lambda sheet: sheet.name
)
def test_spaces_are_a_hairline_a_half_step_or_steps_of_four_pixels(sheet):
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL)
    lengths = [one for value in SPACING.findall(text) for one in LENGTH.findall(value)]
    pixels = {
        number + unit: abs(float(number)) * (REM if unit == "rem" else 1)
        for number, unit in lengths
        if (sheet.name, number + unit) not in EXACT
    }
    assert [one for one, length in pixels.items() if length % 4 and length not in (1, 2)] == []
