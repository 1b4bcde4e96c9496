"""The house stands: who may import whom, checked on what is really loaded."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "explorer"
LAYERS = [  # each may import from its own layer's earlier modules and from layers above this line
    [
        "language",
        "errors",
        "vocabulary",
        "pieces",
        "tables",
        "pairs",
        "pairs_preview",
        "masks",
        "archive",
        "checks",
        "foreign",
        "interventions",
        "trace",
        "tally",
        "grouping",
        "words",
        "alignment",
        "analysis",
        "roles",
        "findings",
        "contrast",
    ],
    ["hooks", "model", "decoding", "tasks", "settings", "sites", "surgery"],
    [
        *("checkpoint", "tracing", "sentences", "experiments", "metrics", "ablation"),
        *("importance", "survey", "evaluation", "translation", "lessons", "examination"),
        "aligner",
        *("parallel", "graph", "training"),
    ],
    ["ownership", "runs", "heartbeat", "recording", "estimate", "jobs"],
    ["player", "notebook", "timelapse", "gallery"],
    [
        *(
            "place",
            "examples",
            "library",
            "classroom",
            "delivery",
            "gate",
            "moments",
            "warmth",
            "turns",
        ),
        *("session", "shelf", "notice", "stage", "controls", "corner"),
        *("measuring", "ledger", "columns", "trials", "bench", "easel", "tray", "gauges"),
        *(
            "watching",
            "settings_form",
            "pairs_form",
            "buttons",
            "screen",
            "views",
            "shell",
            "commands",
        ),
    ],
]
ORDER = [module for layer in LAYERS for module in layer]


def loaded_by(module: str) -> set[str]:
    code = f"import json, sys, explorer.{module}; print(json.dumps(list(sys.modules)))"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, cwd=PACKAGE.parent
    )
    return set(json.loads(output.stdout))


def own_imports(path: Path) -> set[str]:
    """The explorer's modules a file imports at its top, outside TYPE_CHECKING."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("explorer."):
            found.add((node.module or "").split(".")[1])
    return found


@pytest.mark.parametrize(
    "module",
    [
        *("trace", "analysis", "contrast", "findings", "roles"),
        *("player", "vocabulary", "words", "alignment"),
    ],
)
def test_no_torch_is_loaded_by_what_only_needs_a_trace(module):
    loaded = loaded_by(module)
    assert "torch" not in loaded
    assert "streamlit" not in loaded


@pytest.mark.parametrize("module", ["tracing", "training"])
def test_nothing_below_the_views_loads_streamlit_or_plotly(module):
    loaded = loaded_by(module)
    assert "torch" in loaded
    assert not {"streamlit", "plotly"} & loaded


@pytest.mark.parametrize("module", ORDER)
def test_no_module_imports_upward(module):
    path = PACKAGE / f"{module}.py"
    files = [path] if path.exists() else sorted((PACKAGE / module).glob("*.py"))
    assert files
    below = set(ORDER[: ORDER.index(module) + 1])
    for file in files:
        assert own_imports(file) <= below, file.name


def test_views_never_import_views():
    for view in (PACKAGE / "views").glob("*.py"):
        assert "views" not in own_imports(view), view.name


def test_the_public_names_are_there_and_lazy():
    assert "torch" not in loaded_by("__init__")
    import explorer

    for name in explorer.__all__:
        assert getattr(explorer, name)
    with pytest.raises(AttributeError):
        _ = explorer.no_such_name
