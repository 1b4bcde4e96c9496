import json
import re
from pathlib import Path
from typing import get_args

import plotly
import pytest
from plotly.offline import get_plotlyjs_version

from explorer.components.bundle import BUNDLES, PLOTLY, Component, Script, Sheet, script, styles
from explorer.core.i18n import section, table

COMPONENTS = Path(__file__).parents[2] / "explorer" / "components"
SCRIPTS = get_args(Script)
PINNED = Path(__file__).parents[2] / "requirements.txt"
PINNED_PLOTLY = pytest.mark.skipif(
    f"plotly=={plotly.__version__}\n" not in PINNED.read_text(encoding="utf-8"),
    reason="the bundle is that of the pinned version of plotly",
)


def source(*folders: str) -> str:
    """All JavaScript of these folders of `components`."""
    files = (file for folder in folders for file in sorted((COMPONENTS / folder).glob("js/*.ts")))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def test_there_is_a_bundle_for_every_component():
    names = {file.name for file in BUNDLES.iterdir()}
    sheets = {f"{name}.css" for name in get_args(Sheet)}
    library = {PLOTLY.name, "plotly-LICENSE.txt"}
    assert names == {f"{name}.js" for name in SCRIPTS} | sheets | library


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_imports_nothing_and_exports_what_is_mounted(name):
    exported = re.findall(r"export\{([^}]*)\}", script(name))
    names = {one.split(" as ")[1] for group in exported for one in group.split(",")}
    mounted = {
        "components": {*get_args(Component)},
        "followed_replay": {"mountFollowedReplay"},
        "notebook_frame": {"default"},
    }
    assert names == mounted.get(name, set())
    imports = re.findall(r"\bimport\b.", script(name))
    if name != "live_trainer":  # in which jax-js calls a method so
        assert imports == (["import("] if name == "live" else [])  # of that, when a guest needs it
    assert "innerHTML" not in script(name)


def test_scripts_and_styles_contain_no_sentences():
    scripts = (script(name) for name in ("components", "followed_replay", "live", "live_training"))
    sheets = map(styles, get_args(Sheet))
    assert not re.search(r"[\u4e00-\u9fff]", "".join([*scripts, *sheets]))


def test_a_script_carries_only_what_it_uses():
    assert "pharaoh" in script("exported_page")
    assert "pharaoh" not in script("followed_replay")
    assert ".strip-tokens" in styles("player")
    for name in ("head_grid", "model_comparison", "metric_matrix", "training_replay"):
        assert ".strip-tokens" not in styles(name)
    together = sum(len(script(name)) for name in ("exported_page", "followed_replay", "live"))
    assert len(script("components")) < together  # of which each has a copy of what all use


@pytest.mark.parametrize(
    ("folders", "sections"),
    [
        (("dom", "page", "trace", "map", "figure", "player", "inside"), ["player", "glossary"]),
        (("lesson",), ["lessons", "player"]),
        (("classroom",), ["class_tools"]),
        (("chart",), ["player"]),
        (("head_views",), ["heads", "player"]),
        (("training_replay",), ["training_replay", "player"]),
        (("browser_training",), ["browser_training", "train", "run_settings"]),
    ],
)
def test_every_sentence_that_a_script_asks_for_exists(folders, sections):
    asked = set(re.findall(r"\bsay\(\s*\"(\w+)\"", source(*folders)))
    known = {key for name in sections for key in section(name)}
    assert asked
    assert asked <= known


def test_every_integrity_check_has_its_sentences():
    for check in ("rows_sum_to_one", "masked_cells_are_zero", "unchanged_since_capture"):
        for kind in ("check", "failed", "about"):
            assert f"{kind}_{check}" in section("player")


def test_every_curve_has_its_sentences():
    panels = (COMPONENTS / "training_replay" / "js" / "curvePanels.ts").read_text("utf-8")
    names = set(re.findall(r'(?:name: |(?:simple|score|head)Panel\()"(\w+)"', panels))
    assert names >= {"loss", "gold", "bleu", "rate"}
    assert {f"{name}{end}" for name in names for end in ("", "_title")} <= set(
        table()["training_replay"]
    )


@PINNED_PLOTLY
def test_plotly_has_the_version_of_the_python_package():
    head = PLOTLY.read_text(encoding="utf-8")[:300]
    assert f"plotly.js (cartesian - minified) v{get_plotlyjs_version()}\n" in head
    assert "Licensed under the MIT license" in head
    assert PLOTLY.stat().st_size < 1_600_000


def test_plotly_is_shipped_with_its_licence():
    licence = (BUNDLES / "plotly-LICENSE.txt").read_text(encoding="utf-8")
    assert licence.startswith("MIT License")
    assert "Plotly" in licence


@PINNED_PLOTLY
def test_plotly_is_the_file_that_the_lock_names():
    """npm checks the hash in the lock when it installs; here the copy is that file."""
    name = "node_modules/plotly.js-cartesian-dist-min"
    locked, installed = (
        json.loads((COMPONENTS / lock).read_text(encoding="utf-8"))["packages"][name]
        for lock in ("package-lock.json", "node_modules/.package-lock.json")
    )
    assert locked["integrity"] == installed["integrity"]
    assert locked["version"] == get_plotlyjs_version()
    assert PLOTLY.read_bytes() == (COMPONENTS / name / "plotly-cartesian.min.js").read_bytes()
