import re
from dataclasses import replace

import numpy as np

from explorer.app.widgets.integrity_line import integrity_summary, integrity_texts
from tests.support.example_traces import example_trace


def test_each_check_has_its_measured_error():
    trace = example_trace()
    texts = integrity_texts(trace, "en")
    checks = trace.integrity()
    assert len(texts) == len(checks)
    for text, error in zip(texts, checks.error, strict=True):
        assert text.startswith("✓")
        if shown := re.search(r"\d(e\\?-\d+)?(?=\\?\)$)", text):
            assert float(shown[0].replace("\\", "")) == float(f"{error:.0e}")
    assert integrity_texts(trace, "zh")[0] != texts[0]
    assert integrity_summary(trace, "en") == f"✓ {len(texts)} checks"


def test_what_was_checked_on_an_earlier_text_is_said():
    trace = example_trace()
    first = replace(trace, facts={**trace.facts, "check": "once"}, digest="")
    later = replace(first, measured={})
    never = replace(trace, facts={**trace.facts, "check": "never"}, measured={}, digest="")
    said = [integrity_summary(one, "en") for one in (trace, first, later, never)]
    assert said == [
        f"✓ {len(trace.integrity())} checks",
        f"✓ {len(trace.integrity())} checks",
        "✓ 3 checks · checked on the first text of this kind",
        "✓ 3 checks",
    ]


def test_a_failed_check_is_red():
    arrays = dict(example_trace().arrays)
    arrays["cross.attention"] = arrays["cross.attention"] * np.float32(1.01)
    trace = replace(example_trace(), arrays=arrays)
    texts = integrity_texts(trace, "en")
    assert integrity_summary(trace, "en") == f"✗ 2 of {len(texts)} checks failed"
    assert [text.startswith(":red[✗") for text in texts].count(True) == 2


def test_an_expected_difference_is_said_with_its_reason():
    trace = example_trace()
    facts = {**trace.facts, "config": {"causal": False}}
    measured = {**trace.measured, "cached_equals_full": 1.0}
    trace = replace(trace, facts=facts, measured=measured, digest="")
    texts = "\n".join(integrity_texts(trace, "en"))
    assert "without a causal mask" in texts
    assert "was unmasked" not in texts  # no cell was: training had no mask
