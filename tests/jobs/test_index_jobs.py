"""An index of attention, built by its process."""

import pytest

from explorer.core import folders
from explorer.core.errors import MeasurementError
from explorer.heads.metrics import batch_names
from explorer.heads.search.attention_index import open_index
from explorer.heads.search.stored_indexes import IndexFile, stored_indexes
from explorer.jobs import index_jobs
from explorer.jobs.measurement_jobs import Sentences
from explorer.model.checkpoint import to_bytes
from tests.support.short_runs import wait_for_job


def test_an_index_is_built_and_found_by_the_digest(explorable, tmp_path, monkeypatch):
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    sentences = Sentences("lines", size=5, text="1 2 3\n\n3 2\n")
    index_jobs.check(explorable, sentences, "en")
    contents = to_bytes(explorable.checkpoint)
    job = index_jobs.start(contents, "tiny", sentences, explorable.digest).job
    wait_for_job(job)
    assert job.done, job.failure
    (found,) = stored_indexes(explorable.digest)
    assert found.report == IndexFile(job.report, batch_names.written("lines"), 2)
    index = open_index(job.report)
    assert index.facts["sources"] == ["1 2 3", "3 2"]
    assert index.facts["digest"] == explorable.digest
    again = index_jobs.start(contents, "tiny", sentences, explorable.digest).job
    assert (again, again.active) == (job, False)


def test_too_many_sentences_are_refused(explorable):
    many = Sentences("lines", size=5, text="1\n" * (index_jobs.MOST_SENTENCES + 1))
    with pytest.raises(MeasurementError, match="5000"):
        index_jobs.check(explorable, many, "en")
