import numpy as np
import pytest

from explorer.core.text_pairs import second_text, typed_separator
from explorer.core.trace import Trace


def traced(tokens, **facts):
    size = len(tokens)
    plain = Trace.from_arrays(tokens, encoder=np.full((1, 1, size, size), 1 / size, np.float32))
    return Trace(plain.source_tokens, (), (), "", plain.arrays, facts=facts)


PAIR = ("[CLS]", "▁a", "[SEP]", "▁b", "[SEP]")


@pytest.mark.parametrize(
    ("second", "expected"),
    [(3, 3), (None, None), (0, None), (5, None), (-1, None), ("3", None), (True, None)],
)
def test_the_second_text_begins_inside_the_trace(second, expected):
    assert second_text(traced(PAIR, second=second)) == expected


def test_a_separator_that_was_typed_is_noticed():
    assert typed_separator(traced(PAIR, separator="[SEP]")) == "[SEP]"
    assert typed_separator(traced(PAIR[:3], separator="[SEP]")) == ""  # the one at the end
    assert typed_separator(traced(PAIR, separator="[SEP]", second=3)) == ""
    assert typed_separator(traced(PAIR)) == ""  # a model without segments
    assert typed_separator(traced(PAIR, separator=3)) == ""
