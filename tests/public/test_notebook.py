import builtins
import sys

import numpy as np
import pytest

import explorer
from explorer.core.errors import TraceError
from explorer.core.trace import Trace


@pytest.fixture
def trace() -> Trace:
    return Trace.from_arrays(("a",), ("<bos>",), cross=np.ones((1, 1, 1, 1), np.float32))


@pytest.mark.parametrize("missing", ["anywidget", "traitlets"])
def test_without_the_package_a_sentence_has_the_command(trace, missing, monkeypatch):
    monkeypatch.delitem(sys.modules, "explorer.public.trace_widget", raising=False)
    for name in ("anywidget", "traitlets"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    found = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return object() if name in ("anywidget", "traitlets") else found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TraceError, match="pip install anywidget") as caught:
        explorer.widget(trace)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("trace", "7 3 9"), "needs a model .* type Trace"),
        ((5, "7 3 9"), "needs a model .* type int"),
        ((5,), "A trace was expected, .* type int"),
    ],
)
def test_what_is_neither_trace_nor_model_with_text_is_refused(arguments, sentence, trace):
    pytest.importorskip("anywidget")
    given = [trace if one == "trace" else one for one in arguments]
    with pytest.raises(TraceError, match=sentence):
        explorer.widget(*given)


def test_a_widget_of_a_place_or_language_that_does_not_exist_is_refused(trace):
    pytest.importorskip("anywidget")
    with pytest.raises(TraceError, match=r"no head cross\.0\.7"):
        explorer.widget(trace, head=7)
    with pytest.raises(TraceError, match="language is “xx”"):
        explorer.widget(trace, language="xx")
