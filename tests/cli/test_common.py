import argparse
import json
import os
import sys
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.cli.common import (
    LEAST_MEMORY,
    as_job,
    asking_for_translator,
    comma_list,
    lower_priority,
    whole_number,
)
from explorer.core import folders
from explorer.core.errors import AlignmentError, MeasurementError, VocabularyError
from explorer.core.files import write_atomically
from explorer.jobs.measurement import Measurement


@pytest.mark.parametrize("text", ["a b", "a,b", "a, b", " a  b "])
def test_entries_are_separated_by_commas_or_spaces(text):
    assert comma_list(text) == ("a", "b")


def test_with_a_comma_spaces_belong_to_the_entries():
    assert comma_list("the source, the target") == ("the source", "the target")


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("256", 256), ("-3", -3), ("999999999", 999_999_999)]
)
def test_an_option_that_counts_is_a_whole_number(text, number):
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", "-", "x", "1.5", "--1", "1000000000", "9" * 5_000])
def test_an_option_that_counts_nothing_is_refused_in_a_short_sentence(text):
    with pytest.raises(argparse.ArgumentTypeError, match="at most 9 digits") as raised:
        whole_number(text)
    assert len(str(raised.value)) < 120


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(("measure", "--sentences"), ("measure", "--removed-on")),
        *(("trace", "--pad-to"), ("trace", "--max-new-tokens")),
    ],
)
def test_no_command_begins_to_count_a_million_millions(command, option, capsys):
    arguments = [command, "reverse", *["7 3"] * (command == "trace"), option, "999999999999"]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert f"argument {option}: write a whole number of at most 9 digits" in told


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has priority classes")
def test_the_priority_is_lowered(monkeypatch):
    increments: list[int] = []
    monkeypatch.setattr(os, "nice", increments.append)
    lower_priority()
    assert increments == [10]


def given(most_memory: int | None = None, job: Path | None = None) -> argparse.Namespace:
    """The options of a job."""
    return argparse.Namespace(
        background=False, end_with_parent=False, most_memory=most_memory, job=job
    )


def test_a_job_without_enough_memory_ends_with_one_sentence():
    def fill(options: argparse.Namespace) -> int:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    options = given()
    with pytest.raises(MeasurementError, match="more memory than it may have") as raised:
        as_job(fill)(options)
    assert "command line" not in str(raised.value)


def test_a_job_of_the_app_without_enough_memory_names_the_command_line(monkeypatch, tmp_path):
    def fill(options: argparse.Namespace) -> int:
        raise MemoryError

    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    job = Measurement.of("heads", "digest", "batch")
    described = {"kind": "heads", "digest": "digest", "batch": "batch"}
    write_atomically(job.folder / job.DESCRIPTION, json.dumps(described).encode())
    with pytest.raises(MeasurementError, match="or use the command line"):
        as_job(fill)(given(job=job.folder))
    assert job.status().state == "failed"
    assert "or use the command line" in str(job.failure)


@pytest.mark.parametrize("most", [1, 100_000_000, LEAST_MEMORY - 1])
def test_a_limit_below_what_the_libraries_take_is_refused_in_one_sentence(most):
    options = given(most_memory=most)
    with pytest.raises(MeasurementError, match="512 MiB"):
        as_job(lambda _: pytest.fail("began"))(options)


def test_another_error_of_a_job_stays_what_it_is():
    def fail(options: argparse.Namespace) -> int:
        raise RuntimeError("shapes differ")

    options = given()
    with pytest.raises(RuntimeError, match="shapes differ"):
        as_job(fail)(options)


def test_only_an_unknown_symbol_of_a_toy_model_asks_for_a_translator():
    unknown = VocabularyError("unknown_symbol", symbol="I", known="1 2")
    in_row = AlignmentError("pair_refused", row=1, name="x", reason=unknown)
    for error in (unknown, in_row):
        with (
            pytest.raises(VocabularyError, match="cannot read “I”: it knows 1 2; sentences need"),
            asking_for_translator("x", {"task": "sort"}),
        ):
            raise error
        with pytest.raises(type(error)) as caught, asking_for_translator("x", {}):
            raise error
        assert caught.value is error
    other = VocabularyError("empty_text", known="1 2")
    with (
        pytest.raises(VocabularyError) as caught,
        asking_for_translator("x", {"task": "sort"}),
    ):
        raise other
    assert caught.value is other
