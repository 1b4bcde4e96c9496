"""Each package's tests are in the folder of its name, and each test file says what it is of."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "explorer"
MODULES = [path for path in PACKAGE.rglob("*.py") if "node_modules" not in path.parts]
PACKAGES = sorted({path.parent for path in MODULES})
MENTIONED = re.compile(r"\bexplorer/[\w/]+\.(?:py|js|css)\b")
TEST_FILES = sorted(TESTS.rglob("test_*.py"))
WITHOUT_BEHAVIOUR = {"core/version.py", "data/batch.py", "model/measurable.py"}


def imported(path: Path) -> Iterator[str]:
    """The modules and names that a file imports, in full."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_tests_of_a_package_name_each_of_its_modules(package):
    """By a file of the module's name, or by an import in any of them; those of a package of a few
    small modules may be one file."""
    folder = TESTS / package.relative_to(PACKAGE)
    if (folder.parent / f"test_{package.name}.py").is_file():
        return
    files = list(folder.glob("test_*.py"))
    names = {name for file in files for name in imported(file)}
    missing = set()
    for module in package.glob("[!_]*.py"):
        whole = ".".join(module.relative_to(PACKAGE.parent).with_suffix("").parts)
        imports = any(name == whole or name.startswith(f"{whole}.") for name in names)
        if not imports and folder / f"test_{module.name}" not in files:
            missing.add(module.relative_to(PACKAGE).as_posix())
    assert missing <= WITHOUT_BEHAVIOUR


def test_each_test_file_is_of_a_module_or_says_what_it_is_of():
    for path in TEST_FILES:
        name = path.relative_to(TESTS).with_name(path.stem.removeprefix("test_"))
        modules = [folder / name for folder in (PACKAGE, PACKAGE.parent)]
        if not any(one.is_dir() or one.with_suffix(".py").is_file() for one in modules):
            assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), path


def test_each_folder_of_tests_is_that_of_a_package_or_of_the_whole():
    folders = {path.parent.relative_to(TESTS) for path in TEST_FILES}
    packages = {package.relative_to(PACKAGE) for package in PACKAGES}
    of_the_whole = {"browser", "browser/static_site", "benchmarks", "gpu"}
    assert {folder.as_posix() for folder in folders - packages} == of_the_whole


def test_no_test_module_imports_another():
    for path in TESTS.rglob("*.py"):
        found = [name for name in imported(path) if name.startswith("tests.") and ".test_" in name]
        assert not found, f"{path.name} imports {found}"


def test_no_modules_import_each_other_in_a_circle():
    """Not within functions, and not for types either."""
    graph = grimp.build_graph("explorer", exclude_type_checking_imports=False, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # raises `CycleError` with the circle


def test_the_files_that_code_mentions_exist():
    sources = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".js", ".css")]
    for path in sources:
        if not {"node_modules", "bundles"} & set(path.parts):
            for mentioned in MENTIONED.findall(path.read_text("utf-8")):
                assert (PACKAGE.parent / mentioned).is_file(), f"{path}: {mentioned}"
