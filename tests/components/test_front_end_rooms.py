"""What of the front end may import what: the rooms, then the components, each only from below.

Imports of types alone are free, as in Python.
"""

import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

COMPONENTS = Path(__file__).parents[2] / "explorer" / "components"
LAYERS = (
    ("dom",),
    ("page",),
    ("trace",),
    ("map",),
    ("figure",),
    ("inside",),
    ("player",),
    ("browser_model", "chart", "classroom", "head_views", "lesson", "training_replay"),
    ("browser_training",),
    ("live",),
)
HEIGHT = {folder: height for height, layer in enumerate(LAYERS) for folder in layer}
IMPORT = re.compile(r'^(?:import|export) (?!type\b)[^;]*?from "(\.[^"]+)";$', re.MULTILINE)


def imports(module: Path) -> Iterator[Path]:
    """The modules whose values it imports."""
    for name in IMPORT.findall(module.read_text(encoding="utf-8")):
        yield (module.parent / name).resolve()


MODULES = {module: list(imports(module)) for module in sorted(COMPONENTS.glob("*/js/*.ts"))}


def test_every_folder_has_its_layer():
    assert {module.parts[-3] for module in MODULES} == set(HEIGHT)


def test_a_folder_imports_only_from_those_below_it():
    upward = [
        f"{module.relative_to(COMPONENTS)} imports {other.relative_to(COMPONENTS)}"
        for module, others in MODULES.items()
        for other in others
        for ours, theirs in [(module.parts[-3], other.parts[-3])]
        if ours != theirs and HEIGHT[theirs] >= HEIGHT[ours]
    ]
    assert upward == []


def test_no_module_needs_itself():
    order = list(TopologicalSorter(MODULES).static_order())  # an error names a circle
    assert len(order) >= len(MODULES)
    assert sum(map(len, MODULES.values())) > 1000  # the pattern finds the imports
