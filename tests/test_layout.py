"""The tests mirror the package: one test file for each module."""

import ast
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "explorer"
TESTED_TOGETHER = {"data/toy_tasks": "data/test_toy_tasks.py"}
WITHOUT_BEHAVIOUR = {"data/batch.py", "model/measurable.py"}


def expected_file(module: Path) -> Path:
    folder = module.relative_to(PACKAGE).parent
    if together := TESTED_TOGETHER.get(folder.as_posix()):
        return TESTS / together
    return TESTS / folder / f"test_{module.name}"


def test_each_module_has_a_test_file():
    missing = [
        module.relative_to(PACKAGE).as_posix()
        for module in sorted(PACKAGE.rglob("*.py"))
        if not module.name.startswith("__")
        and "node_modules" not in module.parts
        and not expected_file(module).is_file()
    ]
    assert set(missing) == WITHOUT_BEHAVIOUR


def test_no_test_module_imports_another():
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name for name in names if name.startswith("tests.") and ".test_" in name]
            assert not found, f"{path.name} imports {found}"
