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


def test_a_failed_check_is_red():
    arrays = dict(example_trace().arrays)
    arrays["cross.attention"] = arrays["cross.attention"] * np.float32(1.01)
    trace = replace(example_trace(), arrays=arrays)
    texts = integrity_texts(trace, "en")
    assert integrity_summary(trace, "en") == f"✗ 2 of {len(texts)} checks failed"
    assert [text.startswith(":red[✗") for text in texts].count(True) == 2
