from pathlib import Path

import pytest

from explorer.core import folders
from explorer.core.errors import FileError
from explorer.model.checkpoint_name import named_checkpoint


@pytest.fixture(autouse=True)
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints with one called "one"; the current folder is another, empty one."""
    folder, here = tmp_path / "shipped", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    (folder / "one.safetensors").touch()
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(folder))
    monkeypatch.chdir(here)
    return folder


@pytest.mark.parametrize("name", ["one", "one.safetensors", Path("one")])
def test_a_name_is_that_of_a_model_that_ships(shipped: Path, name: str | Path) -> None:
    assert named_checkpoint(name) == shipped / "one.safetensors"


@pytest.mark.parametrize("name", ["one", "one.safetensors"])
def test_what_exists_is_meant_itself(name: str) -> None:
    Path(name).touch()
    assert named_checkpoint(name) == Path(name)


@pytest.mark.parametrize("path", ["x/one", "./x/../one.bin", "one.bin", "two.safetensors", ".."])
def test_what_is_more_than_a_name_is_a_path(path: str) -> None:
    assert named_checkpoint(path) == Path(path)


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(FileError, match=r"“two” is neither a file .*; those are one\.$"):
        named_checkpoint("two")
