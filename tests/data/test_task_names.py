import subprocess
import sys

import numpy as np
import pytest

from explorer.core.errors import TaskError
from explorer.data.task_names import TASK_NAMES, refuse_unknown_task, task_label, task_of
from explorer.data.toy_data import find_task


def test_the_names_are_those_of_the_files():
    assert TASK_NAMES == ("copy", "induction", "reverse", "sort")


def test_the_names_are_known_without_torch():
    code = "import sys, explorer.data.task_names; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_task_is_refused_with_the_known_ones():
    for look_up in (refuse_unknown_task, find_task):
        with pytest.raises(TaskError, match="copy, induction, reverse, sort"):
            look_up("invert")


@pytest.mark.parametrize("facts", [{}, {"task": "translate"}, {"task": 3}, {"task": ["copy"]}])
def test_a_model_of_another_task_has_no_toy_task(facts):
    assert task_of(facts) is None


def test_a_task_is_called_by_its_sentence_or_by_its_name():
    assert task_of({"task": "sort"}) == "sort"
    assert task_label("sort", "zh") != task_label("sort", "en")
    assert task_label("rotate", "en") == "rotate"


ROTATE = """
from torch import Tensor


def answer(symbols: Tensor, lengths: Tensor) -> Tensor:
    rotated = symbols.roll(-1, dims=1)
    return rotated.scatter(1, lengths[:, None] - 1, symbols[:, :1])


def alignment(symbols):
    return [[(position + 1) % len(symbols)] for position in range(len(symbols))]
"""


def test_one_file_makes_a_task(tmp_path):
    (tmp_path / "rotate.py").write_text(ROTATE)
    code = f"""
from explorer.data import toy_tasks
toy_tasks.__path__.append({str(tmp_path)!r})
from explorer.data.task_names import TASK_NAMES
from explorer.data.toy_data import find_task
from explorer.training.config import TrainingConfig
assert TASK_NAMES == ("copy", "induction", "reverse", "rotate", "sort")
assert TrainingConfig(task="rotate").task == "rotate"
task = find_task("rotate")
assert task.answer([5, 3, 4]) == [3, 4, 5]
assert task.alignment([5, 3, 4]).astype(int).tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_matrix_is_no_task():
    for refuse in (refuse_unknown_task, find_task):
        with pytest.raises(TaskError, match="choose one of"):
            refuse(np.ones((2, 2)))
