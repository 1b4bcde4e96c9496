import ast
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors import safe_open

from explorer.core import folders
from explorer.core.errors import FileError
from explorer.data.parallel_corpus import parse_pairs
from explorer.model.catalog import UploadedModel, named_checkpoint, shipped_models, trained_model
from explorer.model.checkpoint import save_checkpoint, to_bytes
from explorer.model.checkpoint_header import PIECES
from explorer.model.explorable import ExplorableModel, load
from explorer.model.listed_model import TextKind
from explorer.model.model_directory import directory_model
from explorer.model.opening import read_upload
from explorer.training.trainer import Trainer
from tests.support.catalog_members import shipped
from tests.support.toy_sentences import TINY_PAIRS, as_table


@pytest.fixture
def folder(tmp_path, monkeypatch, explorable: ExplorableModel) -> Path:
    """Two checkpoints, a file that only has the name of one, and a text."""
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path))
    save_checkpoint(explorable.checkpoint, tmp_path / "another.safetensors")
    save_checkpoint(explorable.checkpoint, tmp_path / "reverse.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
    (tmp_path / "README.md").write_text("no model")
    return tmp_path


def test_the_usual_length_of_a_translator_is_that_of_its_training_pairs():
    folder = Path(__file__).parents[2] / "checkpoints"
    for name in ("english-french", "reverse"):
        pairs = load(folder / f"{name}.safetensors").facts.get("pairs", {})
        assert shipped_models()[name].summary.usual_tokens == pairs.get("pieces", 0)
    assert shipped_models()["english-french"].summary.usual_tokens == 9.41


def test_only_checkpoints_are_listed_reverse_first(folder):
    assert list(shipped_models()) == ["reverse", "another"]


def test_the_list_is_read_from_headers_without_torch(folder):
    model = shipped_models()["reverse"]
    assert model.summary.symbols == ("1", "2", "3", "<b>", "甲")
    assert model.summary.trained_tokens == 10
    code = (
        "import sys\n"
        "from explorer.model.catalog import shipped_models\n"
        "sys.exit(len(shipped_models()) != 2 or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_changed_file_has_another_stamp(folder):
    before = shipped_models()["reverse"]
    shutil.copy(folder / "another.safetensors", folder / "reverse.safetensors")
    assert shipped_models()["reverse"].stamp != before.stamp


def test_a_file_is_described_once_while_it_stays(folder):
    before = shipped_models()
    assert all(model is before[name] for name, model in shipped_models().items())
    examples = before["reverse"].examples
    assert before["reverse"].examples is examples


def test_the_path_is_that_of_the_model_described(folder):
    path = shipped_models()["reverse"].path
    assert load(path).trace("1 2").source_tokens == ("1", "2", "<eos>")


def test_examples_are_texts_that_the_model_reads(folder):
    for model in shipped_models().values():
        assert all(model.reads(text) for text in model.examples)
        assert not model.reads("1 x")


def test_a_model_that_reads_no_known_example_has_one_of_its_symbols():
    (text,) = shipped("x", "qxz", trained_tokens=4, most_tokens=9).examples
    assert len(text.split()) == 4
    assert set(text.split()) <= set("qxz")
    (alone,) = shipped("x", "qxz", trained_tokens=4, most_tokens=9, decoder_layers=1).examples
    first, *middle, last = alone.split()
    assert first == last
    assert sorted([first, *middle]) == ["q", "x", "z"]


def test_the_shipped_models_are_listed_with_examples_in_chinese(monkeypatch):
    monkeypatch.delenv(folders.CHECKPOINTS_VARIABLE, raising=False)
    models = shipped_models()
    assert next(iter(models)) == "reverse-almost"
    assert {"copy", "reverse", "sort", "chinese-english"} <= set(models)
    for model in models.values():
        if not model.summary.reads_sentences:
            assert any("甲" in text for text in model.examples)
            assert any(text.startswith("7 3 9 1 4") for text in model.examples[:2])
    assert models["reverse"].summary.most_tokens == 33
    assert models["reverse"].summary.trained_tokens == 16


def test_examples_are_no_longer_than_in_training():
    model = shipped("x", "12345abc甲乙丙丁79de", trained_tokens=6, most_tokens=12)
    assert all(len(text.split()) <= 6 for text in model.examples)


@pytest.fixture(scope="module")
def translator(tmp_path_factory) -> bytes:
    """A checkpoint of an untrained model of sentences, with some facts."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text(as_table(), "utf-8")
    trainer = Trainer(replace(TINY_PAIRS, pairs=str(path)))
    return to_bytes(
        trainer.checkpoint({"bleu": 51.234, "test_sources": 77, "credit": "by somebody"})
    )


def test_a_model_of_sentences_is_listed_and_uploaded_alike(translator, folder):
    (folder / "own.safetensors").write_bytes(translator)
    listed, uploaded = shipped_models()["own"], read_upload("own.safetensors", translator)
    assert isinstance(uploaded, UploadedModel)
    assert listed.summary == uploaded.summary
    assert listed.summary.reads_sentences
    assert (listed.summary.trained_tokens, listed.summary.most_tokens) == (32, 65)
    scores = (listed.summary.bleu, listed.summary.test_sources, listed.summary.credit)
    assert scores == (51.234, 77, "by somebody")
    assert listed.examples == uploaded.examples
    assert load(listed.path).trace(listed.examples[0]).source_tokens[-1] == "<eos>"


def test_its_examples_are_sentences_that_its_training_held_out(translator, folder):
    (folder / "own.safetensors").write_bytes(translator)
    model = shipped_models()["own"]
    held_out = {pair.source for pair in parse_pairs(as_table().encode(), "x").part("dev")}
    assert 1 < len(model.examples) <= 8
    assert set(model.examples) <= held_out


def test_a_model_of_sentences_without_any_opens_with_one_of_the_explorer():
    assert shipped("x", most_tokens=65).examples == ("The black cat is sleeping on the red chair.",)


@pytest.mark.parametrize(
    "path", sorted(folders.shipped_checkpoints().glob("*.safetensors")), ids=lambda path: path.stem
)
def test_a_shipped_model_has_16_bit_weights_and_its_command_says_so(path):
    with safe_open(path, "pt") as file:
        kinds = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
        command = json.loads(file.metadata()["facts"])["command"]
    pieces = set(PIECES.values())
    assert {kind for name, kind in kinds.items() if name not in pieces} == {"F16"}
    assert command.startswith("python -m explorer train ")
    assert "--half" in command.split()


def test_each_member_answers_for_itself(folder, explorable):
    library = directory_model("bert", "stamp", Path("bert"), {"type_vocab_size": 2}, 9, ids=False)
    trained = trained_model("runs/mine", folder / "reverse.safetensors")
    upload = read_upload("mine.safetensors", to_bytes(explorable.checkpoint))
    trace = read_upload("mine.trace", explorable.trace("1 2").to_bytes())
    members = shipped_models()["reverse"], trained, upload, library, trace
    assert [member.can_trace for member in members] == [True, True, True, True, False]
    assert [member.can_share for member in members] == [True, True, False, True, False]
    models = members[:4]
    assert [model.is_own for model in models] == [True, True, True, False]
    assert [model.draws_texts for model in models] == [True, True, True, False]
    assert [model.reads_pairs for model in models] == [False, False, False, True]
    assert [model.kind for model in models] == [*3 * [TextKind.SYMBOLS], TextKind.SENTENCE]
    gold = folder / "gold" / "reverse.tsv"
    assert [model.gold_links for model in models] == [gold, None, None, None]
    assert trained.label == "mine"


def test_no_module_asks_of_which_class_a_member_is():
    package = Path(__file__).parents[2] / "explorer"
    classes = {"DirectoryModel", "ListedModel", "OwnModel", "ShippedModel", "StoredModel"}
    classes |= {"CatalogMember", "CatalogModel", "TrainedModel", "Upload"}
    classes |= {"UploadedModel", "UploadedTrace"}
    asked = []
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            tested = [node.cls] if isinstance(node, ast.MatchClass) else []
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                tested = node.args[1:]
            names = {getattr(one, "id", "") for part in tested for one in ast.walk(part)}
            asked += [(path.name, name) for name in names & classes]
    assert asked == []


@pytest.fixture
def only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints with one called "one"; the current folder is another, empty one."""
    folder, here = tmp_path / "shipped", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    (folder / "one.safetensors").touch()
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(folder))
    monkeypatch.chdir(here)
    return folder


@pytest.mark.parametrize("name", ["one", "one.safetensors", Path("one")])
def test_a_name_is_that_of_a_model_that_ships(only_one: Path, name: str | Path) -> None:
    assert named_checkpoint(name) == only_one / "one.safetensors"


@pytest.mark.usefixtures("only_one")
@pytest.mark.parametrize("name", ["one", "one.safetensors"])
def test_what_exists_is_meant_itself(name: str) -> None:
    Path(name).touch()
    assert named_checkpoint(name) == Path(name)


@pytest.mark.usefixtures("only_one")
@pytest.mark.parametrize("path", ["x/one", "./x/../one.bin", "one.bin", "two.safetensors", ".."])
def test_what_is_more_than_a_name_is_a_path(path: str) -> None:
    assert named_checkpoint(path) == Path(path)


@pytest.mark.usefixtures("only_one")
def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(FileError, match=r"“two” is neither a file .*; those are one\.$"):
        named_checkpoint("two")
