"""Processes that compare heads with gold links."""

from pathlib import Path

import pytest

from explorer.core import folders
from explorer.core.errors import AlignmentError
from explorer.heads.alignment.aer_by_head import align_pairs, all_methods
from explorer.heads.alignment.aer_report import DIAGONAL
from explorer.heads.alignment.gold_file import AlignmentFile
from explorer.heads.reports.report_store import stored_reports
from explorer.jobs import alignment_jobs
from explorer.jobs.alignment_jobs import LINKS, WITH_TOKENS, GoldTable, stored_alignments
from explorer.jobs.measurement import MeasuredSentences, QueuedMeasurement, queued_measurements
from explorer.model.checkpoint import to_bytes
from explorer.model.explorable import ExplorableModel
from tests.support.short_runs import wait_for_job

ROWS = "1 2 3\t3 2 1\t0-2 1-1 2-0\n2 甲\t甲 2\t0-1 1?0\n"
TOKENS = "1 2 3\t3 2 1\t0-1 1-0\t12 3\t3 21\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    return tmp_path


def gold(text: str, name: str = "x.tsv") -> GoldTable:
    return GoldTable.of(name, text.encode())


def test_a_file_with_tokens_anywhere_counts_tokens_everywhere() -> None:
    assert gold(ROWS).columns == LINKS
    assert gold(TOKENS).columns == WITH_TOKENS
    assert gold(ROWS + TOKENS).columns == WITH_TOKENS  # and is refused, where they are missing


def test_a_row_of_headings_is_no_pair() -> None:
    headed = gold("source\ttarget\tlinks\n" + ROWS)
    assert headed.columns == ("source", "target", "links")
    parsed, plain = (AlignmentFile.parse(g.data, g.name, g.columns) for g in (headed, gold(ROWS)))
    assert (headed.pairs, gold(ROWS).pairs) == (2, 2)
    assert (parsed.pairs, parsed.gold) == (plain.pairs, plain.gold)
    assert gold("a\tb\tc\td\te\n" + TOKENS).columns == ("a", "b", "c", "d", "e")
    for first in ("a\tb\t\n", "a\tb\n", "a\tb\t0-0\n", "a\tb, c\tlinks\n", "a\ta\tlinks\n"):
        assert gold(first + ROWS).columns == LINKS


def test_heads_are_compared_in_a_process(explorable: ExplorableModel, folder: Path) -> None:
    given, digest = gold(ROWS, "--my links.tsv"), explorable.digest
    alignment_jobs.check(explorable, given)
    contents = to_bytes(explorable.checkpoint)
    job = alignment_jobs.start(contents, "tiny", given, digest).job
    assert queued_measurements() == [
        QueuedMeasurement(job, "tiny", MeasuredSentences("--my links.tsv", 2))
    ]
    wait_for_job(job)
    assert job.done, job.failure
    (stored,) = stored_alignments(digest)
    assert stored.key == job.report_key
    report = stored.report
    assert (report.name, report.unit, report.pairs) == ("--my links.tsv", "whitespace", 2)
    table = alignment_jobs.check(explorable, given)
    methods = all_methods(explorable)
    own = align_pairs(explorable, table.pairs, methods, tokens="whitespace", gold=table.gold)
    assert repr(report.rates) == repr(own.report("x", "whitespace").rates)
    assert DIAGONAL in dict(report.rates)
    assert stored_reports(digest) == []  # a report of another kind
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    files = [str(path) for path in found if path.parts[0] != ".jobs"]
    assert files == [f"{digest}-alignment/{job.batch}/alignment.json"]
    assert alignment_jobs.start(contents, "tiny", given, digest).job == job  # not twice
    assert not job.active


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no sentence pairs"),
        ("1 2\t2 1\n", "no column 3: its widest row has 2"),
        ("1 2\t2 1\t\n", "no links in column 3"),
        ("1 2\n", "no two texts"),
        ("1 2\t2 1\t0-0 x\n", "“x” in line 1"),
        ("1 2\t2 1\t0-0 1-2\n", "link 1-2, but that pair has 2 source and 2 target"),
        ("1 2\t2 1\t1-1 2-2\n", "link 2-2"),  # counted from 1
        (ROWS + TOKENS, "Row 1 of “x.tsv”: the text goes on with “1 2 3”"),
        (TOKENS.replace("12 3", "1 3"), "Row 1 of “x.tsv”: .* goes on with “2 3”"),
        ("9\t1\t0-0\n", "Row 1 cannot be aligned .*: “9” is not a symbol"),
        ("1 " * 30 + "\t1\t0-0\n", r"All pairs \(1\) are too long"),
        (ROWS * 513, "At most 1024"),
    ],
)
def test_what_the_process_would_refuse_is_refused_before_in_both_languages(
    text: str, sentence: str, explorable: ExplorableModel
) -> None:
    with pytest.raises(Exception, match=sentence) as refused:
        alignment_jobs.check(explorable, gold(text))
    assert "\n" not in str(refused.value)
    assert refused.value.in_language("zh") != str(refused.value)


def test_a_reason_is_in_the_language_of_the_page(explorable: ExplorableModel) -> None:
    with pytest.raises(AlignmentError) as refused:
        alignment_jobs.check(explorable, gold("9\t1\t0-0\n"))
    assert "is not a symbol" not in refused.value.in_language("zh")
