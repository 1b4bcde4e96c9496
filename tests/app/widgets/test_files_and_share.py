import io
from dataclasses import replace

import pandas
import pytest

import explorer
from explorer.app.widgets.files_and_share import ShownTrace
from explorer.core.look import Look, Request
from explorer.core.trace import Trace
from explorer.model.catalog import UploadedTrace
from tests.support.app_server import ROOT


@pytest.fixture(scope="module")
def expected() -> Trace:
    return explorer.load(ROOT / "checkpoints" / "reverse.safetensors").trace("7 3 9 1 4", pad_to=8)


def test_the_steps_table_has_no_formulas(expected):
    tokens = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "1", "甲", "<eos>", "a\r=b"]
    labels = (tokens * len(expected.candidate_tokens))[: len(expected.candidate_tokens)]
    trace = replace(expected, candidate_tokens=tuple(labels))
    member, look = UploadedTrace("mine", "stamp", trace), Look(Request("mine", ""))
    table = pandas.read_csv(
        io.BytesIO(ShownTrace(member, look).steps_table()), encoding="utf-8-sig"
    )
    shown = ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "1", "甲", "<eos>", "a\r=b"]
    assert table["token"].tolist()[:10] == shown
