"""The documents say what is so: links lead somewhere, examples run, pictures match the code."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import grimp
import pytest
from packaging.requirements import Requirement

import explorer
from tests.support.documented_commands import commands, parsed
from tests.support.huggingface_families import (
    FAMILIES,
    REFUSED,
    TESTED,
    TESTED_WEIGHTS_ONLY,
    WEIGHTS_ONLY,
    tiny_model,
)

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    path for folder in (".", "docs", "checkpoints") for path in (ROOT / folder).glob("*.md")
)


def blocks(document: str, language: str) -> list[str]:
    """The code blocks of a document in one language."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that `make` has made the package importable in; the packages it
    needs are those of this environment."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    venv = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (venv / "run").touch()  # as if the requirements were installed
    subprocess.run(["make", f"VENV={venv}", f"{venv}/import"], cwd=ROOT, check=True)
    (folder,) = venv.glob("lib/python*/site-packages")
    (folder / "needed.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    return venv / "bin" / "python"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_to_one(document):
    targets = re.findall(r"\]\(([^)#\s]+)\)", document.read_text(encoding="utf-8"))
    local = [target for target in targets if ":" not in target]
    assert [target for target in local if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_named_source_file_exists(document):
    text = document.read_text(encoding="utf-8")
    named = re.findall(r"`((?:explorer|tests|benchmarks|docs)/[\w./]+)`", text)
    examples = {
        *("explorer/data/toy_tasks/swap.py", "explorer/strings/SECTION.toml"),
        *("explorer/languages/CODE.toml", "explorer/lessons/NAME.CODE.md", "explorer/languages/"),
    }
    assert [name for name in named if name not in examples and not (ROOT / name).exists()] == []


def test_every_file_on_the_walks_of_the_architecture_exists():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w./]+\.(?:py|ts))`", text)
    places = (ROOT, ROOT / "explorer", ROOT / "explorer" / "components")
    assert len(named) > 40
    assert [one for one in named if not any((place / one).is_file() for place in places)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_has_the_options_it_is_called_with(document):
    for block in blocks(str(document.relative_to(ROOT)), "sh"):
        for words in commands(block):
            assert parsed(words).run_command


def test_the_readme_is_short_and_begins_with_a_picture():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 450
    assert text.startswith("[![")


@pytest.mark.parametrize(
    "document", ["README.md", "docs/notebook.md", "docs/studies.md", "docs/measures.md"]
)
def test_the_python_examples_run_in_another_folder(document, python, tmp_path):
    (tmp_path / "checkpoints").symlink_to(ROOT / "checkpoints")
    done = subprocess.run(
        [str(python), "-c", "\n".join(blocks(document, "python"))],
        cwd=tmp_path,
        env={"PATH": "", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_examples_of_a_module_of_ones_own_run(tmp_path, monkeypatch):
    import torch
    from torch import nn
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

    from tests.support import model_directories
    from tests.support.tutorial_transformers import Annotated

    folder = model_directories.bert(tmp_path / "bert")
    own = AutoModelForMaskedLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    torch.save(Annotated(11, 11, 16, 8, 20).state_dict(), tmp_path / "mine.pt")
    monkeypatch.chdir(tmp_path)
    names = {"explorer": explorer, "nn": nn, "torch": torch, "AutoTokenizer": AutoTokenizer}
    names |= {"AutoModelForCausalLM": AutoModelForCausalLM, "path": str(tmp_path / "large")}
    model_directories.gpt2(tmp_path / "large")
    names |= dict(zip(("fine_tuned", "tokenizer"), own, strict=True))
    calls = ("explorer.wrap", "explorer.capture", "explorer.import_state_dict")
    examples = blocks("docs/models.md", "python")
    own_module = [one for one in examples if any(call in one for call in calls)]
    assert len(own_module) == len(calls) + 1  # `wrap` of a copy, and of the model itself
    for example in own_module:
        exec(example, names)
    assert names["trace"].sites == ("encoder",)
    assert explorer.load("mine.safetensors").name == "mine"


def families() -> dict[str, set[str]]:
    """By family, in the table of docs/models.md, what does not work; "refused" if nothing does."""
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    table = text.split("| families |")[1].split("\n\n")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines()[2:]]
    return {
        family: set(re.findall(r"\w+", missing))
        for named, missing in rows
        for family in re.findall(r"`([\w-]+)`", named)
    }


def test_the_table_of_families_has_every_family_that_is_tested():
    missing = families()
    assert set(missing) == {*FAMILIES, *WEIGHTS_ONLY, *REFUSED}
    assert {family for family, what in missing.items() if what == {"refused"}} == set(REFUSED)


def refused_methods(model: Any) -> set[str]:
    """Which methods of the table raise an error in a model."""
    text, output = "5 17 8 30 9", {"target": "9 4"} if model.decodes else {}
    site = model.trace(text, **output).sites[0]
    calls = {
        "ablate": lambda: model.trace(text, ablate=[(site, 0, 1)], **output),
        "alti": lambda: model.contributions(text, method="alti", **output),
        "rollout": lambda: model.contributions(text, method="rollout", **output),
        "leave_one_out": lambda: model.contributions(text, method="leave_one_out", **output),
        "logit_attribution": lambda: model.logit_attribution(text, **output),
        "early_predictions": lambda: model.trace(
            text, capture="full", **output
        ).early_predictions(),
        "score_parts": lambda: model.score_parts(text, site, 0, 1, query=1, key=0, **output),
    }
    refused = set()
    for name, call in calls.items():
        try:
            call()
        except explorer.ExplorerError:
            refused.add(name)
    return refused


@pytest.mark.parametrize("family", [*TESTED, *TESTED_WEIGHTS_ONLY])
def test_the_table_of_families_says_what_does_not_work(family):
    assert refused_methods(explorer.wrap(tiny_model(family))) == families()[family]


def test_the_toy_task_of_the_guide_can_be_trained(tmp_path):
    (source,) = blocks("CONTRIBUTING.md", "python")
    (tmp_path / "swap.py").write_text(source, encoding="utf-8")
    options = "--longest 3 --d-model 16 --heads 2 --d-ff 16 --encoder-layers 1 --decoder-layers 1"
    code = f"""
from explorer.data import toy_tasks
toy_tasks.__path__.append({str(tmp_path)!r})
from explorer.__main__ import main
from explorer.data.toy_data import find_task
task = find_task("swap")
assert task.answer([5, 6, 7]) == [6, 5, 7]
assert task.alignment([5, 6, 7]).nonzero()[1].tolist() == [1, 0, 2]
train = "train --task swap --steps 2 --evaluate-every 1 --device cpu {options}"
assert main(train.split() + ["--out", {str(tmp_path / "swap.safetensors")!r}]) == 0
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "swap.safetensors").exists()


def test_the_table_of_the_packages_names_the_imports_that_exist():
    text = (ROOT / "docs" / "layers.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \|.+\|([ \w]*)\|$", text, re.MULTILINE))
    named = {(package, imported) for package, cell in rows.items() for imported in cell.split()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = project["tool"]["importlinter"]["contracts"][0]
    layers = [name.removeprefix("explorer.") for name in contract["layers"]]
    assert all(layers.index(a) < layers.index(b) for a, b in named)
    graph = grimp.build_graph("explorer", exclude_type_checking_imports=True, cache_dir=None)
    package = {module: module.split(".")[1] for module in graph.modules if "." in module}
    found = {
        (package[module], package[imported])
        for module in package
        for imported in graph.find_modules_directly_imported_by(module)
        if imported in package
    }
    assert named == {(a, b) for a, b in found if a != b and {a, b} <= set(layers)}


def test_every_measured_speed_names_a_benchmark():
    text = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    cells = [line.strip("| ").split(" | ")[-1] for line in text.splitlines() if "|" in line][2:]
    commands = [command for cell in cells for command in re.findall(r"`([^`]+)`", cell)]
    assert len(commands) >= len(cells) > 15
    for command in commands:
        module = ROOT / "benchmarks" / f"{command.split()[0]}.py"
        assert module.exists() or command.startswith("python -m explorer measure"), command


def test_the_pinned_torch_is_named_alike():
    (pin,) = re.findall(
        r"^torch==.+$", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE
    )
    for document in DOCUMENTS:
        for named in re.findall(r"torch==[\d.]+", document.read_text(encoding="utf-8")):
            assert named == pin


def test_the_ranges_of_the_package_hold_the_pinned_versions_and_end_nowhere():
    """`make lowest` runs the tests with the versions that the ranges begin at."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if "==" in line]
    pinned = {one.name: one for one in pins}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ranges = list(map(Requirement, project["dependencies"]))
    assert {one.name for one in ranges} == set(pinned)
    for one in ranges:
        (pin,) = pinned[one.name].specifier
        assert pin.version in one.specifier
        assert [limit.operator for limit in one.specifier] == [">="]


def test_every_file_that_others_made_is_named():
    """Files with a licence of their own, and those that were not written for this project."""
    named = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    bundles = ROOT / "explorer" / "components" / "bundles"
    own = "/* Bundled from explorer/components"
    foreign = [file for file in bundles.iterdir() if not file.read_text("utf-8").startswith(own)]
    assert len(foreign) == 3
    tables = [*(ROOT / "explorer" / "data").glob("*.tsv"), *(ROOT / "checkpoints/gold").iterdir()]
    for file in [*foreign, *tables]:
        assert file.relative_to(ROOT).as_posix() in named
    lock = json.loads((bundles.parent / "package-lock.json").read_text(encoding="utf-8"))
    version = lock["packages"]["node_modules/plotly.js-cartesian-dist-min"]["version"]
    assert f"plotly.js) {version}," in named


def test_the_changelog_names_the_version():
    from explorer import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
