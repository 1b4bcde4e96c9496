import subprocess
import sys

from explorer.app.component import component


def test_a_component_is_declared_once():
    assert component("words") is component("words")


def test_the_frame_of_all_pages_imports_nothing_slow_for_it():
    slow = "{'torch', 'pandas', 'numpy'} & {*sys.modules}"
    script = f"import sys, explorer.app.component; print(*{slow})"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
