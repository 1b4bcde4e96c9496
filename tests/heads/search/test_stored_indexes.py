"""The indexes that were built on this machine, and those that ship."""

import os

from explorer.core import folders
from explorer.heads.reports.report_files import measured_folder
from explorer.heads.search.index_building import Corpus, attention_index
from explorer.heads.search.stored_indexes import IndexFile, stored_indexes


def test_the_newest_is_first_and_what_is_no_index_is_left_out(explorable, tmp_path, monkeypatch):
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    paths = []
    for number, texts in enumerate((["1 2 3"], ["3 2", "1"], [])):
        folder = measured_folder(explorable.digest, "index") / str(number)
        folder.mkdir(parents=True)
        paths.append(folder / "index.safetensors")
        if texts:
            attention_index(explorable, Corpus.of(explorable, texts, "mine"), paths[-1])
        else:
            paths[-1].write_bytes(b"none")
        os.utime(paths[-1], (number, number))
    found = [one.report for one in stored_indexes(explorable.digest)]
    built = [IndexFile(paths[1], "mine", 2), IndexFile(paths[0], "mine", 1)]
    assert found == built
    assert stored_indexes("another") == []
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(tmp_path / "models"))
    shipped = folders.shipped_reports() / "tiny.index"
    shipped.parent.mkdir(parents=True)
    attention_index(explorable, Corpus.of(explorable, ["2 2", "3 1"], "theirs"), shipped)
    found = [one.report for one in stored_indexes(explorable.digest)]
    assert found == [*built, IndexFile(shipped, "theirs", 2)]
    assert stored_indexes("another") == []
