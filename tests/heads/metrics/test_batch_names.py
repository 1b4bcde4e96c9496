import pytest

from explorer.heads.metrics.batch_names import read, written
from explorer.jobs.measurement_jobs import Sentences

KINDS = {
    "task": {"task": "reverse", "longest": "16", "seed": "0"},
    "continued": {"task": "induction", "longest": "24", "seed": "0"},
    "random": {"block": "32", "seed": "0"},
    "dev": {"name": "a, b.tsv"},
    "examples": {"name": "gpt2 [x]"},
    "lines": {},
    "pairs": {},
    "repeated": {"name": "a.tsv, dev part", "repeated": "3"},
    "counted": {"name": "gpt2, examples", "count": "7"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_read(kind):
    assert read(written(kind, **KINDS[kind])) == (kind, KINDS[kind])


def test_the_forms_that_reports_have_stored_are_read():
    assert read("reverse, held out, 1 to 16 symbols, seed 0") == ("task", KINDS["task"])
    assert read("a, b.tsv, dev part") == ("dev", KINDS["dev"])
    whole = "a.tsv, dev part, 3 repeated left out"
    assert read(whole) == ("repeated", {"name": "a.tsv, dev part", "repeated": "3"})
    assert read("gpt2, examples (7)") == ("counted", KINDS["counted"])


def test_any_other_name_is_that_of_a_file():
    for name in ("my held out.txt", "dev part", "held out, 1 to x symbols, seed 0", "", "a\n(7)"):
        assert read(name) == ("", {})


def test_what_a_visitor_types_or_uploads_has_the_names_of_its_kinds():
    for kind in ("lines", "pairs"):
        assert read(Sentences(kind, text="a\tb").named().name) == (kind, {})
