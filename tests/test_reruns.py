"""Browser tests alone are run again, and a run with many that were fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "tests.support.reruns")
FLAKY = """
import pathlib
import pytest

@pytest.mark.flaky(reruns=2)
@pytest.mark.parametrize("number", range({count}))
def test_passes_the_second_time(number):
    seen = pathlib.Path(__file__).with_name(f"seen-{{number}}")
    was_there = seen.exists()
    seen.touch()
    assert was_there
"""


def test_none_but_browser_tests_are_run_again(request):
    """Of all tests that were collected beside this one."""
    again = {item.path for item in request.session.items if item.get_closest_marker("flaky")}
    assert {path for path in again if ROOT / "tests" / "browser" not in path.parents} == set()
    assert not request.config.getoption("reruns")
    assert not request.config.getini("reruns")


@pytest.mark.parametrize(("count", "status"), [(0, 5), (1, 0), (2, 0), (3, 1)])
@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_more_than_two_fail_the_run(count, status, workers, tmp_path):
    (tmp_path / "test_flaky.py").write_text(FLAKY.format(count=count) if count else "")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *workers, str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout
    assert ("tests were run again; at most 2" in done.stdout) == (status == 1)
