import hashlib
import json
import re
from pathlib import Path

import pytest

from explorer.app import static_site
from explorer.app.static_site import write_static_site
from explorer.components.bundle import PLOTLY
from explorer.components.live.model_script import model_script
from explorer.core import folders
from explorer.core.errors import FileError
from explorer.core.lesson import FoundLessons
from explorer.model.catalog import shipped_models
from explorer.model.checkpoint import load_checkpoint, to_bytes


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("sites") / "new" / "site"
    told = []
    size = write_static_site([shipped_models()["reverse"]], out, told.append)
    return out, size, told


def test_the_folder_has_every_file_that_its_pages_name(written):
    out, size, told = written
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert sorted(files) == sorted(told)
    assert told[-1] == "index.html"
    assert size == sum((out / name).stat().st_size for name in files)
    html = (out / "index.html").read_text("utf-8")
    data = json.loads(re.search(r'id="page-data">(.*?)</script>', html, re.DOTALL)[1])
    model = to_bytes(load_checkpoint(shipped_models()["reverse"].path), half=True)
    assert (out / "models" / "reverse.js").read_bytes() == model_script(model).encode()
    assert data["models"][0]["sha256"] == hashlib.sha256(model).hexdigest()
    assert data["models"][0]["bytes"] == len(model) < 2_200_000
    assert data["models"][0]["scriptBytes"] == (out / "models" / "reverse.js").stat().st_size
    assert data["models"][0]["opening"]["site"] == "cross"
    assert {f"lessons/{lesson['name']}.zh.html" for lesson in data["lessons"]} <= files
    for name in sorted(files):
        text = (out / name).read_text("utf-8") if name.endswith(".html") else ""
        for asked in re.findall(
            r'<(?:script|link)[^>]*(?: src| href| data-src)="([^"?:]+)(?=["?])', text
        ):
            assert (out / name / ".." / asked).resolve().is_file(), f"{name} asks for {asked}"
    assert len(data["lessons"]) >= 5
    assert {"training.en.html", "service-worker.js", "live.js", "models/reverse.js"} <= files


def test_a_static_site_of_the_toys_is_small_as_nothing_is_there_twice(tmp_path):
    toys = [model for model in shipped_models().values() if model.summary.symbols]
    assert len(toys) == 6
    assert write_static_site(toys, tmp_path) <= 16_000_000
    found = contents(tmp_path)
    plotly = PLOTLY.read_bytes()[-1000:]
    assert [name for name, data in found.items() if plotly in data] == ["plotly.min.js"]
    assert len({hashlib.sha256(data).digest() for data in found.values()}) == len(found)
    assert max(len(data) for name, data in found.items() if name.endswith(".html")) < 325_000


def test_an_earlier_static_site_is_written_again_and_other_files_are_left_alone(written, tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(FileError, match="other files"):
        write_static_site([shipped_models()["reverse"]], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(FileError, match="is a file"):
        write_static_site([], tmp_path / "mine.txt")
    before = contents(written[0])
    assert write_static_site([shipped_models()["reverse"]], written[0]) == written[1]
    assert contents(written[0]) == before  # byte for byte


@pytest.fixture
def no_lessons(monkeypatch):
    monkeypatch.setattr(static_site, "lessons", lambda: FoundLessons({}, ()))


def test_what_a_smaller_static_site_does_not_have_is_removed(tmp_path, no_lessons):
    out = tmp_path / "site"
    write_static_site([shipped_models()[name] for name in ("sort", "copy")], out)
    (out / "models" / "mine.js").write_text("precious")
    mark = out / "attention-explorer-site.txt"
    mark.write_text(mark.read_text("utf-8") + "models/../index.html\n../mine.txt\nlive.css\n")
    (tmp_path / "mine.txt").write_text("precious")
    size = write_static_site([shipped_models()["sort"]], out)
    names = {path.name for path in (out / "models").iterdir()}
    assert names == {"sort.js", "mine.js"}
    assert (tmp_path / "mine.txt").exists()
    assert (out / "index.html").exists()
    assert size + len("precious") == sum(len(data) for data in contents(out).values())


def test_what_an_interrupted_static_site_has_written_is_removed_later(tmp_path, no_lessons):
    def stop(name: str) -> None:
        if name == "index.html":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_static_site([shipped_models()["copy"]], tmp_path, stop)
    assert (tmp_path / "models" / "copy.js").exists()
    write_static_site([shipped_models()["sort"]], tmp_path)
    assert not (tmp_path / "models" / "copy.js").exists()


@pytest.mark.parametrize("name", ["models/sort.safetensors", "sheets/padding.en.html"])
def test_what_an_earlier_version_wrote_is_removed(name, tmp_path, no_lessons):
    """Such as the sheets, which had the answers of the lessons."""
    write_static_site([shipped_models()["sort"]], tmp_path)
    before = contents(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"earlier")
    mark = tmp_path / "attention-explorer-site.txt"
    mark.write_text(mark.read_text("utf-8") + f"{name}\n")
    write_static_site([shipped_models()["sort"]], tmp_path)
    assert contents(tmp_path) == before


CARDS = """# Wrong

---
view: model=sort&text=2+1
question: Which?
choices: 7 | 8
answer: largest key
---
One.
---
view: model=sort&text=no+symbol
---
Two.
---
view: model=sort&text=2+1
---
Three.
"""


def test_no_card_that_ships_is_logged(tmp_path, caplog):
    """In both languages: an answer is looked for among the choices of its own lesson."""
    write_static_site([shipped_models()["reverse"]], tmp_path / "site")
    assert (tmp_path / "site" / "lessons" / "the-mask.zh.html").is_file()
    assert [record.getMessage() for record in caplog.records] == []


def test_cards_that_cannot_be_shown_are_logged(tmp_path, monkeypatch, caplog):
    folder = tmp_path / "lessons"
    folder.mkdir()
    (folder / "wrong.en.md").write_text(CARDS)
    (folder / "elsewhere.zh.md").write_text("# B\n---\nview: model=nothing&text=2\n---\nOne.")
    (folder / "other.en.md").write_text("# C\n---\nview: model=copy&text=no+symbol\n---\nOne.")
    monkeypatch.setenv(folders.LESSONS_VARIABLE, str(folder))
    write_static_site([shipped_models()["sort"]], tmp_path / "site")
    logged = [record.getMessage() for record in caplog.records]
    assert len(logged) == 3, logged
    (first,) = [one for one in logged if one.startswith("“wrong.en.md”, card 1: ")]
    assert "not among the choices" in first
    assert any("“wrong.en.md”, card 2: " in one for one in logged)
    assert any("“elsewhere.zh.md”第 1 张卡片" in one and "“nothing”" in one for one in logged)


def test_a_class_gets_the_toys_first_and_then_everything(monkeypatch):
    listed = {name: shipped_models()[name] for name in ("chinese-english", "reverse")}
    monkeypatch.setattr(static_site, "shipped_models", lambda: listed)

    def files(kind):
        def named(models):
            yield " ".join((kind, *(model.name for model in models))), b""

        return named

    monkeypatch.setattr(static_site, "first_page_files", files("first"))
    monkeypatch.setattr(static_site, "linked_files", files("linked"))
    everything = "chinese-english reverse"
    names = [name for name, _ in static_site.files_for_class()]
    replay = ["training_replay.css", "followed_replay.js"]
    assert names == ["first reverse", f"first {everything}", *replay, f"linked {everything}"]
    monkeypatch.setattr(static_site, "shipped_models", dict)
    assert list(static_site.files_for_class()) == []
