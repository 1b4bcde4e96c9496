import json
import re
from pathlib import Path

import pytest

from explorer.components.training_export import trainer_sentences, training_page
from explorer.core import folders
from explorer.core.errors import TraceError
from explorer.data.task_names import TASK_NAMES
from explorer.jobs.training_run import find_run

TRAINER = Path(__file__).parents[2] / "explorer/components/browser_training/js"


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


def test_a_page_has_every_sentence_that_the_trainer_says():
    """The page shows the key of one that it lacks. Names that the sources put together are those
    that begin and end as written."""
    known = trainer_sentences("en")
    sources = "".join(path.read_text("utf-8") for path in TRAINER.glob("*.ts"))
    for key in re.findall(r'\bsay\("(\w+)"', sources):
        assert key in known
    for start, end in re.findall(r"\bsay\(`(\w*)\$\{[^`]*\}(\w*)`", sources):
        assert any(key.startswith(start) and key.endswith(end) for key in known)
    assert {f"task_{name}" for name in TASK_NAMES} <= known.keys()
    states = re.search(r"type State = (.*);", sources)
    assert states
    assert {f"state_{name}" for name in re.findall(r'"(\w+)"', states[1])} <= known.keys()
