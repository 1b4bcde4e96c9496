import hashlib
import json
import re

import pytest

from explorer.app.static_site import write_site
from explorer.core.errors import FileError
from explorer.model.catalog import shipped_models
from explorer.model.explorable import load


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("sites") / "new" / "site"
    told = []
    size = write_site([shipped_models()["reverse"]], out, told.append)
    return out, size, told


def test_the_folder_has_every_file_that_its_pages_name(site):
    out, size, told = site
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert files == set(told)
    assert told[-1] == "index.html"
    assert size == sum((out / name).stat().st_size for name in files)
    html = (out / "index.html").read_text("utf-8")
    data = json.loads(re.search(r'id="page-data">(.*?)</script>', html, re.DOTALL)[1])
    model = (out / "models" / "reverse.safetensors").read_bytes()
    assert data["models"][0]["sha256"] == hashlib.sha256(model).hexdigest()
    assert data["models"][0]["bytes"] == len(model) < 2_200_000
    assert data["models"][0]["opening"]["site"] == "cross"
    assert {f"lessons/{lesson['name']}.zh.html" for lesson in data["lessons"]} <= files
    assert len(data["lessons"]) >= 5
    assert {"training.en.html", "service-worker.js", "live.js", "models/reverse.js"} <= files


def test_the_model_in_it_decodes_as_the_one_it_was_made_of(site):
    model = load(site[0] / "models" / "reverse.safetensors")
    assert model.trace("7 3 9 1 4").text == "4 1 9 3 7"


def test_an_earlier_site_is_written_again_and_other_files_are_left_alone(site, tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(FileError, match="other files"):
        write_site([shipped_models()["reverse"]], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(FileError, match="other files"):
        write_site([], tmp_path / "mine.txt")
    assert write_site([shipped_models()["reverse"]], site[0]) == site[1]
