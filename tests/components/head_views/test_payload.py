"""What the gallery's rooms are sent."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from explorer.components import head_views
from explorer.components.head_views.bundle import ROOMS, SHARED, SHEETS
from explorer.core.i18n import table
from explorer.heads.head_report import HeadReport
from explorer.heads.roles import ROLES
from explorer.heads.trace_comparison import TraceComparison
from tests.support.example_traces import example_trace

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "explorer" / "components" / "head_views"


@pytest.fixture(scope="module")
def findings() -> HeadReport:
    return HeadReport.load(ROOT / "checkpoints" / "heads" / "reverse.json")


def unpacked(data: bytes) -> tuple[dict, dict[str, bytes]]:
    """Header and parts, read by this file's own reading of the format."""
    (length,) = struct.unpack_from("<I", data)
    assert length % 4 == 0
    header = json.loads(data[4 : 4 + length])
    body = data[4 + length :]
    assert all(start % 4 == 0 for start, _ in header["parts"].values())
    return header, {name: body[at : at + size] for name, (at, size) in header["parts"].items()}


def test_the_overview_brings_the_trace_and_what_was_found(findings):
    header, parts = unpacked(head_views.overview(example_trace(), findings))
    assert struct.unpack_from("<I", parts["trace"])
    head = header["heads"]["cross"][6]
    assert (head["layer"], head["head"]) == (1, 2)
    assert head["roles"] == ["reverse", "alignment"]
    row = findings.heads.query("site == 'cross' and layer == 1 and head == 2").iloc[0]
    assert head["metrics"]["gold_weight"] == [
        row.gold_weight,
        row.gold_weight_low,
        row.gold_weight_high,
    ]
    assert head["metrics"]["distance"] == [None] * 3  # it has no meaning in cross-attention
    assert "previous" not in head["scores"]


def test_a_trace_without_findings_has_a_wall_too():
    header, _ = unpacked(head_views.overview(example_trace(), None))
    assert header["heads"] == {}
    assert tuple(header["roles"]) == tuple(ROLES)


def test_norms_and_differences_travel_exactly():
    trace = example_trace()
    norms = {site: 3.5 * trace.attention(site) for site in trace.sites}
    _, parts = unpacked(head_views.overview(trace, None, norms=norms))
    sent = np.frombuffer(parts["norms.cross"], "<f4").reshape(trace.attention("cross").shape)
    np.testing.assert_array_equal(sent, norms["cross"])
    other = example_trace(seed=8)
    contrast = TraceComparison(trace, other, other)
    header, parts = unpacked(head_views.twin(contrast, language="zh"))
    assert header["strings"]["page"] == table()["heads"]["page"]["zh"]
    sent = np.frombuffer(parts["difference.decoder"], "<f4")
    np.testing.assert_array_equal(sent, contrast.map("decoder").ravel())
    assert sent.min() < 0 < sent.max()


def test_the_matrix_has_every_metric(findings):
    header, parts = unpacked(head_views.matrix(findings))
    assert not parts
    assert tuple(header["metrics"]) == findings.metrics
    assert [len(header["heads"][site]) for site in ("encoder", "decoder", "cross")] == [8, 8, 8]


def test_every_metric_and_role_has_its_words(findings):
    strings = table()["heads"]
    for name in findings.metrics:
        assert {f"metric_{name}", f"metric_{name}_title"} <= set(strings)


def test_every_script_and_sheet_belongs_to_a_room():
    named = {*SHARED, "entry", *(name for room in ROOMS.values() for name in room)}
    assert {path.stem for path in (FOLDER / "js").glob("*.js")} == named
    assert {path.stem for path in (FOLDER / "css").glob("*.css")} == set(SHEETS)


@pytest.mark.parametrize("room", list(ROOMS))
def test_a_room_is_one_module_without_markup_from_tokens(room):
    script = head_views.bundle(room)
    assert script.count("export default") == 1
    assert "import " not in script.replace("// ", "")
    assert "innerHTML" not in script
