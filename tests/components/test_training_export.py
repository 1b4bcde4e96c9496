import json

import pytest

from explorer.components.training_export import training_page
from explorer.core import folders
from explorer.core.errors import TraceError
from explorer.jobs.training_run import find_run


@pytest.fixture(scope="module")
def run():
    return find_run(folders.shipped_runs(), "reverse")


def test_a_page_has_the_probe_trace_of_every_moment(run):
    html = training_page("recorded/reverse", run, "", "zh")
    steps = [json.loads(json.dumps(moment))["step"] for moment in run.moments()]
    assert len(steps) > 10
    for step in steps:
        assert f'data-probe="moments/recorded/reverse/{step}?' in html
    assert '<html lang="zh-Hans">' in html
    assert '<a href="index.html#last=1&amp;lang=zh">' in html
    assert "<h1>reverse：训练记录</h1>" in html
    assert "default-src 'none'" in html


def test_an_unknown_language_is_refused(run):
    with pytest.raises(TraceError, match="language"):
        training_page("recorded/reverse", run, "", "fr")
