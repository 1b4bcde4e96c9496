import sys

import pytest

import explorer
from explorer.core.errors import FileError, ModelDirectoryError


def test_a_checkpoint_becomes_a_directory(explorable, tmp_path):
    assert explorer.export_huggingface(explorable, str(tmp_path / "x")) <= 1e-4
    assert explorer.load(tmp_path / "x").trace("1 2").text == explorable.trace("1 2").text


def test_what_cannot_be_exported_is_refused(explorable, tmp_path, monkeypatch):
    with pytest.raises(FileError):
        explorer.export_huggingface(explorable, 3)
    with pytest.raises(ModelDirectoryError) as caught:
        explorer.export_huggingface("reverse", tmp_path / "x")
    assert caught.value.key == "export_other"
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelDirectoryError) as caught:
        explorer.export_huggingface(explorable, tmp_path / "x")
    assert "pip install" in str(caught.value)
