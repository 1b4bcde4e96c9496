"""The style sheets of the components take sizes of type, radii and heights from their scales."""

import re

import pytest

from explorer.components.bundle import BUNDLES

SHEETS = sorted(BUNDLES.parent.glob("*/css/*.css"))

TYPE = {"--small", "--type", "--lead", "--large", "--huge", "--page-type", "--page-small"}
FIXED = {"env(--small-type)", "env(--projector-type)", "1rem", "15px", "inherit"}
"""Of what is as large on a projector, of a field on a phone, and of three words beside a title."""
RADII = {"--corner-small", "--corner", "--corner-large"}


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
    assert parts - {f"var({name})" for name in RADII} <= {"0", "50%"}


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_heights_of_a_window_are_named(sheet):
    queries = re.findall(r"@media([^{]+)", sheet.read_text("utf-8"))
    assert [one for one in queries if re.search(r"height\D*\d", one)] == []
