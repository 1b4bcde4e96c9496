import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.model import directory_search
from explorer.model.directory_search import find_directories, named_models


def make(folder: Path, weights: str = "model.safetensors", **config: object) -> Path:
    """A directory that looks like a model."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", **config}))
    (folder / weights).write_bytes(b"weights")
    return folder


def names(*roots: Path, taken: tuple[str, ...] = ()) -> list[str]:
    return list(named_models(find_directories(roots), taken))


def test_every_model_in_or_below_a_folder_is_listed_by_its_name(tmp_path):
    make(tmp_path / "b" / "deep" / "er" / "opus")
    make(tmp_path / "Alpha", "pytorch_model.bin")
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "no weights").mkdir()
    (tmp_path / "no weights" / "config.json").write_text("{}")
    assert names(tmp_path) == ["Alpha", "opus"]
    assert names(tmp_path / "Alpha") == ["Alpha"]
    assert names(tmp_path, tmp_path / "b") == ["Alpha", "opus"]
    assert names(tmp_path / "none") == []


def test_the_cache_of_the_hub_has_the_names_of_its_models(tmp_path):
    make(tmp_path / "hub" / "models--Helsinki-NLP--opus-mt-en-fr" / "snapshots" / "4f3a")
    assert names(tmp_path) == ["Helsinki-NLP/opus-mt-en-fr"]


def test_equal_names_get_the_folder_before_them_and_then_a_number(tmp_path):
    for folder in ("a", "b", "c/a"):
        make(tmp_path / folder / "best")
    assert names(tmp_path) == ["a/best", "b/best", "a/best (2)"]
    make(tmp_path / "reverse")
    assert f"{tmp_path.name}/reverse" in names(tmp_path, taken=("reverse",))


def test_links_to_folders_hidden_folders_and_deep_ones_are_left_out(tmp_path):
    outside = make(tmp_path / "outside" / "model")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "circle").symlink_to(inside)
    make(inside / ".hidden")
    make(inside / "1" / "2" / "3" / "4" / "5")
    assert names(inside) == []
    make(inside / "1" / "2" / "3" / "four")
    assert names(inside) == ["four"]


def test_files_that_are_links_count_as_files(tmp_path):
    model = make(tmp_path / "model")
    blob = tmp_path / "blob"
    (model / "model.safetensors").rename(blob)
    (model / "model.safetensors").symlink_to(blob)
    assert names(tmp_path) == ["model"]


def test_what_cannot_be_read_is_skipped_with_one_line(tmp_path, monkeypatch, caplog):
    make(tmp_path / "good")
    broken = make(tmp_path / "broken")
    (broken / "model.safetensors").unlink()
    (broken / "model.safetensors").symlink_to(tmp_path / "nothing")
    make(tmp_path / os.fsdecode(b"bad\xff"))
    (tmp_path / "closed").mkdir()
    scan = os.scandir

    def scandir(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(directory_search.os, "scandir", scandir)
    with caplog.at_level(logging.WARNING):
        assert names(tmp_path) == ["good"]
        assert names(tmp_path) == ["good"]
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 3
    assert any(line.endswith("closed: Permission denied") for line in lines)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "x"])
def test_a_link_that_leads_in_a_circle_takes_nothing_else_away(name, tmp_path):
    make(tmp_path / "good")
    odd = make(tmp_path / "odd")
    (odd / name).unlink(missing_ok=True)
    (odd / name).symlink_to(name)
    assert names(tmp_path) == (["good", "odd"] if name == "x" else ["good"])


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "special_tokens_map.json"])
def test_a_pipe_keeps_nobody_waiting(name, tmp_path):
    make(tmp_path / "good")
    odd = make(tmp_path / "odd", architectures=["BertForMaskedLM"])
    (odd / "vocab.txt").write_text("[PAD]")
    (odd / name).unlink(missing_ok=True)
    os.mkfifo(odd / name)
    assert names(tmp_path) == (["good"] if name == "config.json" else ["good", "odd"])


def test_a_damaged_config_is_listed_so_that_choosing_it_says_what_is_wrong(tmp_path):
    (make(tmp_path / "damaged") / "config.json").write_text("[")
    assert names(tmp_path) == ["damaged"]


def test_an_adapter_is_no_model(tmp_path):
    (tmp_path / "lora").mkdir()
    (tmp_path / "lora" / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    (tmp_path / "lora" / "adapter_model.safetensors").touch()
    assert names(tmp_path) == []


def test_numbers_are_bounded(tmp_path, monkeypatch):
    for number in range(5):
        make(tmp_path / f"model {number}")
    monkeypatch.setattr(directory_search, "MOST_MODELS", 3)
    assert len(names(tmp_path)) == 3
    monkeypatch.setattr(directory_search, "MOST_FOLDERS", 2)
    assert len(names(tmp_path)) == 1


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_changed_file_has_another_stamp(file, tmp_path):
    model = make(tmp_path / "model")
    (model / "tokenizer.json").write_text("{}")
    before, again = (find_directories([tmp_path])[0].stamp for _ in range(2))
    assert before == again
    (model / file).write_text('{"model_type": "another"}')
    assert find_directories([tmp_path])[0].stamp != before


def test_the_list_needs_neither_torch_nor_the_library(tmp_path):
    make(tmp_path / "model")
    code = (
        "import sys, pathlib\n"
        "from explorer.model.directory_search import find_directories, named_models\n"
        "found = named_models(find_directories([pathlib.Path(sys.argv[1])]))\n"
        "sys.exit(len(found) != 1 or 'torch' in sys.modules or 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == 0
