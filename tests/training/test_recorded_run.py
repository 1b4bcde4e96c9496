import os

import numpy as np
import pytest
from safetensors.numpy import save

from explorer.core.errors import ExplorerError, RunError
from explorer.jobs.training_run import create_run
from explorer.training.config import TrainingConfig
from explorer.training.recorded_run import PAIRS_FILE, RunFiles

CONFIG = TrainingConfig(device="cpu")


def test_a_missing_probe_is_an_error(tmp_path):
    with pytest.raises(ExplorerError):
        RunFiles(tmp_path).probe(10)


def test_a_moved_run_finds_its_file_of_pairs(tmp_path):
    run = create_run(tmp_path / "one", TrainingConfig(pairs=PAIRS_FILE))
    assert run.config.pairs == PAIRS_FILE  # not there yet
    (run.folder / PAIRS_FILE).write_text("a\tb\n")
    assert RunFiles(run.folder).config.pairs == str(tmp_path / "one" / PAIRS_FILE)
    run.folder.rename(tmp_path / "two")
    assert RunFiles(tmp_path / "two").config.pairs == str(tmp_path / "two" / PAIRS_FILE)


def test_the_saved_step_is_where_a_run_goes_on(tmp_path):
    run = create_run(tmp_path / "runs" / "new", CONFIG)
    assert run.saved_step == 0
    run.state_path.write_bytes(save({"step": np.array(120), "other": np.zeros(3)}))
    assert run.saved_step == 120


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nothing of the kind",
        save({"other": np.zeros(3)}),
        save({"step": np.zeros(3)}),
    ],
)
def test_a_damaged_state_has_no_saved_step(tmp_path, data):
    run = create_run(tmp_path / "runs" / "new", CONFIG)
    run.state_path.write_bytes(data)
    with pytest.raises(RunError, match="cannot be read"):
        _ = run.saved_step


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs")
def test_a_fifo_in_place_of_the_state_blocks_nothing(tmp_path):
    run = create_run(tmp_path / "runs" / "new", CONFIG)
    os.mkfifo(run.state_path)
    with pytest.raises(RunError, match="cannot be read"):
        _ = run.saved_step
