"""What `import explorer` offers, and that it is quick: torch and Streamlit come on first use."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def loaded_by(module: str) -> set[str]:
    code = f"import json, sys, {module}; print(json.dumps(list(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT)
    return set(json.loads(output.stdout))


def test_importing_the_package_loads_neither_torch_nor_streamlit():
    assert not {"torch", "streamlit", "plotly"} & loaded_by("explorer")


def test_the_public_names_are_there():
    import explorer

    for name in explorer.__all__:
        assert getattr(explorer, name)
    with pytest.raises(AttributeError):
        _ = explorer.no_such_name


def test_the_server_s_entry_loads_nothing_slow():
    assert not {"torch", "pandas", "numpy", "transformers"} & loaded_by("explorer.app.asgi")
