import pytest

from explorer.app.lesson_run import RunLook, run_look
from explorer.core.errors import ExplorerError
from explorer.core.lesson import Card

VIEW = {
    "run": "recorded/reverse-without-mask",
    "moment": "25",
    "site": "decoder",
    "layer": "0",
    "head": "3",
}


def test_a_card_names_a_moment_a_head_and_a_row():
    look, moment = run_look(Card("A sentence.", {**VIEW, "step": "2"}), "en")
    assert look == RunLook("recorded/reverse-without-mask", 25, "decoder", 0, 3, 2)
    assert (look.place.layer, look.place.head, look.place.query) == (0, 3, 1)
    assert moment.numbers["step"] == 25
    assert moment.probe.target_tokens == moment.end.target_tokens
    assert run_look(Card("A sentence.", VIEW), "en")[0].step is None


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"run": "recorded/nowhere"}, "nowhere"),
        ({"run": "../etc"}, r"\.\."),
        ({"moment": "26"}, "moment"),
        ({"moment": "x"}, "moment"),
        ({"site": "sideways"}, "attention"),
        ({"layer": "2"}, "layer"),
        ({"head": "4"}, "head"),
        ({"head": "-1"}, "head"),
        ({"step": "0"}, "step"),
        ({"step": "7"}, "step"),
    ],
)
def test_what_the_run_does_not_have_is_named(changed, words):
    with pytest.raises(ExplorerError, match=words):
        run_look(Card("A sentence.", {**VIEW, **changed}), "en")
