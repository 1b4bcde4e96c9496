"""Where reports are stored."""

import os

from explorer.core import folders
from explorer.heads.reports.report_files import (
    MOST_STORED,
    REPORT_FILES,
    delete_oldest,
    measured_folder,
    modified,
    newest_first,
)


def test_each_kind_of_report_has_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    found = [measured_folder("some", kind) for kind in REPORT_FILES]
    names = ("some", "some-index")
    assert found == [tmp_path / name for name in names]
    assert measured_folder("some") == tmp_path / "some"


def test_the_oldest_reports_are_deleted(tmp_path):
    for number in range(MOST_STORED + 2):
        path = tmp_path / f"batch-{number}" / REPORT_FILES["heads"]
        path.parent.mkdir()
        path.write_text("{}")
        os.utime(path, (1000 + number, 1000 + number))
    delete_oldest(tmp_path)
    names = [path.parent.name for path in newest_first(tmp_path)]
    assert names == [f"batch-{number}" for number in range(MOST_STORED + 1, 1, -1)]
    assert modified(path) == (1000 + number) * 10**9
    assert modified(tmp_path / "none") == 0
