"""One name a thing: the table of words in `docs/command-line.md` holds on screen, on the command
line and in Python, and nothing shows an older name."""

import inspect
import re
from pathlib import Path

import pytest

from explorer import __main__ as command_line
from explorer.core.i18n import table
from explorer.public.studied_model import StudiedModel
from explorer.training.config import TrainingConfig

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "command-line.md"
OLD_CELL = re.compile(r"\b(?:open|closed?) (?:key|cell)s?\b|开放的(?:键|格|单元)")
OLDER = re.compile(r"(?:python -m |attention-)explorer heads\b|--(?:close|open|row)\b")
COMMANDS = ("train", "trace", "measure", "align")


def words() -> list[list[str]]:
    """The cells of the table, a list a row."""
    section = DOCUMENT.read_text(encoding="utf-8").split("\n## Words\n")[1]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1:]]


def quoted(cell: str, mark: str) -> list[str]:
    return re.findall(rf"{re.escape(mark)}(.+?){re.escape(mark)}", cell)


@pytest.fixture
def help_text(capsys) -> str:
    """What `--help` prints, of the program and of the commands in the table."""
    for arguments in ([], *([name] for name in COMMANDS)):
        with pytest.raises(SystemExit):
            command_line.main([*arguments, "--help"])
    return capsys.readouterr().out


def test_what_the_table_says_of_the_screen_is_there():
    shown = {text["en"] for section in table().values() for text in section.values()}
    named = [word for row in words() for word in quoted(row[1], "*")]
    assert len(named) >= len(words())
    begun = {text.split(" {")[0].removesuffix(" in") for text in shown}  # "mask in {head}: …"
    assert [word for word in named if word not in shown and word not in begun] == []


def test_the_help_has_the_words_of_the_table_and_no_older_ones(help_text):
    for row in words():
        for word in quoted(row[2], "`"):
            assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", help_text), word
    assert not OLDER.search(help_text)
    assert not re.search(r"^    heads\b", help_text, re.MULTILINE)


def test_python_has_the_words_of_the_table():
    known = {name for name, _ in inspect.getmembers(StudiedModel, inspect.isfunction)}
    for method in (StudiedModel.trace, StudiedModel.measure, TrainingConfig):
        known |= set(inspect.signature(method).parameters)
    named = [word for row in words() for word in quoted(row[3], "`")]
    assert len(named) >= len(words())
    assert [word for word in named if word not in known] == []


def test_documents_and_sentences_have_no_older_words():
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "checkpoints/README.md"]
    texts = {path.name: path.read_text(encoding="utf-8") for path in documents}
    texts[DOCUMENT.name] = texts[DOCUMENT.name].split("\n## Words\n")[0]
    for section, sentences in table().items():
        texts[section] = "\n".join(text for one in sentences.values() for text in one.values())
    assert {name: found[0] for name, text in texts.items() if (found := OLDER.search(text))} == {}
    sentences_only = {name: text for name, text in texts.items() if name in table()}
    older = {name: OLD_CELL.search(text) for name, text in sentences_only.items()}
    assert {name: found[0] for name, found in older.items() if found} == {}
