"""What the pages of a class send, and what nobody's page sends."""

import json

import pytest

from explorer.app.server.class_messages import (
    MOST_POINTS,
    read_address,
    read_curve,
    read_leader,
    read_screen,
    read_vote,
)
from explorer.app.server.class_session import Question, Screen
from explorer.components.class_curves_figure import Curve

QUERY = {"model": "reverse", "text": "1 2", "pad": "2", "force": "1.7", "step": "2"}
GUESS = {"weightsToo": False, "rows": 1, "tokens": 1}
KEY = "0123456789abcdef" * 4
CARD = {"title": "Query and key", "number": 1, "cards": 6, "text": "It asks.", "because": ""}
VIEW = {
    "query": QUERY,
    "guess": GUESS,
    "trace": KEY,
    "picture": "heads",
    "paused": False,
    "scores": True,
    "card": CARD,
    "training": None,
}
TRAINING = {
    "run": "runs/reverse-1",
    "others": ["recorded/reverse"],
    "revision": 1_800_000_000_000,
    "moment": 25,
    "site": "cross",
    "layer": 1,
    "head": -1,
}
CURVE = {
    "training": "k3x9",
    "task": "reverse",
    "causal": False,
    "seed": 7,
    "points": [[25, 0], [50, 0.5]],
    "gold": [[0.1, 0.2], [1, 0.3]],
    "finished": True,
}
QUESTION = {"tokens": ["<bos>"], "candidates": ["1", "2"], "answer": None}
KEY_QUESTION = {**QUESTION, "kind": "key", "head": "L1 H2", "positions": [0, 2]}


def screen_of(**values: object) -> Screen:
    return read_screen(json.dumps(values).encode())


def test_a_screen_is_what_the_host_published():
    assert screen_of(view=VIEW, question=QUESTION) == Screen(VIEW, Question(("<bos>",), ("1", "2")))
    assert screen_of() == screen_of(view=None, question=None) == Screen()


def test_a_trace_that_no_query_asks_for_is_named_by_its_key():
    upload = screen_of(view={"query": {"step": "2"}, "trace": KEY}).view
    assert upload is not None
    assert upload["trace"] == KEY
    plain = screen_of(view={"query": QUERY}).view
    assert plain is not None
    assert (plain["trace"], plain["picture"], plain["scores"]) == ("", "player", False)
    assert plain["card"] is None


def test_a_training_takes_the_place_of_a_trace():
    newest = {**TRAINING, "moment": None, "layer": None, "head": None}
    for training in (TRAINING, newest):
        view = screen_of(view={"query": {}, "training": training}).view
        assert view is not None
        assert (view["trace"], view["training"]) == ("", training)


@pytest.mark.parametrize(
    "wrong",
    [
        {"run": "runs/../x"},
        {"run": "other/reverse-1"},
        {"run": "runs/reverse-1\n"},
        {"others": ["runs/reverse-1"] * 5},
        {"others": ["x"]},
        {"revision": -1},
        {"revision": 1.5},
        {"moment": "25"},
        {"moment": -1},
        {"site": "other"},
        {"head": "x"},
        {"more": 1},
    ],
)
def test_a_malformed_training_is_refused(wrong):
    with pytest.raises(ValueError, match=r"at `\$"):
        screen_of(view={"query": {}, "training": {**TRAINING, **wrong}})


def test_how_a_model_of_the_library_reads_a_text_is_part_of_the_query():
    query = {**QUERY, "source_language": "en", "target_language": "fr", "chat": "1"}
    assert screen_of(view={**VIEW, "query": query}).view == {**VIEW, "query": query}


def test_a_question_of_pictures_names_them():
    pictures = {"tokens": [], "candidates": ["diagonal", "ahead"], "kind": "picture"}
    assert screen_of(question={**pictures, "head": "decoder", "answer": 1}).question == Question(
        (), ("diagonal", "ahead"), 1, kind="picture", head="decoder"
    )


def test_a_question_of_a_card_has_its_prompt():
    card = {**QUESTION, "tokens": [], "kind": "card", "prompt": "Which key?"}
    assert screen_of(question=card).question == Question(
        (), ("1", "2"), kind="card", prompt="Which key?"
    )


def test_a_question_on_a_key_names_the_head_and_the_positions():
    asked = screen_of(question=KEY_QUESTION, page="abc1")
    assert asked == Screen(
        question=Question(("<bos>",), ("1", "2"), kind="key", head="L1 H2", positions=(0, 2)),
        page="abc1",
    )
    assert read_leader(b'{"page": "abc1"}') == "abc1"
    for wrong in (b"{}", b'{"page": 3}'):
        with pytest.raises(ValueError, match="page"):
            read_leader(wrong)


def test_long_labels_are_cut():
    question = screen_of(question={**QUESTION, "candidates": ["x" * 1000]}).question
    assert question is not None
    assert question.candidates == ("x" * 100,)


@pytest.mark.parametrize(
    "values",
    [
        {"view": 1},
        {"view": {}},
        {"view": {"query": {}}},
        {"view": {"query": {}, "trace": ""}},
        {"view": {**VIEW, "trace": "../x"}},
        {"view": {**VIEW, "trace": KEY + "\n"}},
        {"view": {**VIEW, "card": {**CARD, "text": "x" * 9999}}},
        {"view": {**VIEW, "card": {**CARD, "html": ""}}},
        {"view": {**VIEW, "scores": 1}},
        {"view": {**VIEW, "picture": "a table"}},
        {"view": {**VIEW, "paused": "perhaps"}},
        {"question": {**QUESTION, "kind": "other"}},
        {"question": {**QUESTION, "kind": "card", "prompt": "x" * 9999}},
        {"view": {**VIEW, "more": 1}},
        {"view": {**VIEW, "guess": []}},
        {"view": {**VIEW, "guess": {**GUESS, "rows": "x"}}},
        {"view": {**VIEW, "guess": {**GUESS, "rows": 1.5}}},
        {"view": {**VIEW, "guess": {**GUESS, "right": 1}}},
        {"view": {**VIEW, "query": {**QUERY, "text": 1}}},
        {"view": {**VIEW, "query": {**QUERY, "text": "x" * 100_000}}},
        {"view": {**VIEW, "query": {**QUERY, "lang": "zh"}}},
        {"question": []},
        {"question": {**QUESTION, "candidates": []}},
        {"question": {**QUESTION, "candidates": ["1"] * 999}},
        {"question": {**QUESTION, "candidates": [1]}},
        {"question": {**QUESTION, "tokens": "abc"}},
        {"question": {**QUESTION, "tokens": ["1"] * 99}},
        {"question": {**QUESTION, "answer": "1"}},
        {"question": {**KEY_QUESTION, "positions": [0]}},
        {"question": {**KEY_QUESTION, "positions": [0, -1]}},
        {"question": {**KEY_QUESTION, "head": 1}},
        {"page": 1},
        {"page": "<b>"},
        {"page": "x" * 99},
    ],
)
def test_a_malformed_screen_is_refused(values):
    with pytest.raises(ValueError, match=r"^no |at `\$"):
        screen_of(**values)


def test_a_vote_is_two_whole_numbers():
    assert read_vote(b'{"number": 3, "choice": 0}') == (3, 0)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b"[" * 150,
        b'{"number": 1}',
        b'{"number": 1, "choice": "9"}',
        b'{"number": true, "choice": 1}',
        b'{"number": 1, "choice": 1.5}',
        b'{"number": 1, "choice": -1}',
        b'{"number": 1, "choice": 1000000000000}',
    ],
)
def test_a_malformed_vote_is_refused(body):
    with pytest.raises(ValueError):  # noqa: PT011  (json's own sentences)
        read_vote(body)


def test_a_code_holds_an_address_of_a_page():
    address = "http://192.0.2.1:8501/?model=reverse&text=7+3&step=2"
    assert read_address(address.encode()) == address
    for wrong in ("", "x", "javascript:alert(1)", "http://", "http://a/" + "x" * 2000, "http://[:"):
        with pytest.raises(ValueError, match=r"address|URL|netloc"):
            read_address(wrong.encode())
    with pytest.raises(ValueError):  # noqa: PT011
        read_address(b"http://\xff")


def test_guests_follow_the_request_and_the_selection_but_nothing_of_heads():
    query = {**QUERY, "do": "ablate cross.1.2", "cell": "1.2", "zoom": "1-2.0-3", "words": "1"}
    view = screen_of(view={"query": query}).view
    assert view is not None
    assert view["query"] == query
    assert view["guess"] is None
    for heads in ("other", "part", "with", "other_text", "ask"):
        with pytest.raises(ValueError, match="no visit"):
            screen_of(view={**VIEW, "query": {**QUERY, heads: "compare"}})


def curve_of(**values: object) -> tuple[str, Curve]:
    return read_curve(json.dumps({**CURVE, **values}).encode())


def test_a_curve_has_the_word_of_its_training():
    points, gold = ((25, 0.0), (50, 0.5)), ((0.1, 0.2), (1.0, 0.3))
    assert curve_of() == ("k3x9", Curve("reverse", False, 7, points, gold, True))
    longest = [[step + 1, 1.0] for step in range(MOST_POINTS)]
    assert len(curve_of(points=longest)[1].points) == MOST_POINTS


@pytest.mark.parametrize(
    "wrong",
    [
        {"training": ""},
        {"training": "k3x9\n"},
        {"training": "x" * 41},
        {"task": "mine"},
        {"task": "reverse\n"},
        {"causal": 1},
        {"seed": -1},
        {"seed": 2**31 + 1},
        {"points": []},
        {"points": [[step, 0] for step in range(MOST_POINTS + 1)]},
        {"points": [[25, 1.1]]},
        {"points": [[25, None]]},
        {"points": [[25]]},
        {"points": [[0.5, 0.5]]},
        {"points": [[50, 0.1], [25, 0.2]]},
        {"points": [[25, 0.1], [25, 0.2]]},
        {"gold": []},
        {"gold": [[]]},
        {"gold": [[0.1] * 5]},
        {"gold": [[0.1]] * 5},
        {"gold": [[-0.1]]},
        {"finished": 1},
        {"name": "Ada"},
    ],
)
def test_a_malformed_curve_is_refused(wrong):
    with pytest.raises(ValueError, match=r"at `\$|unknown field|no curve"):
        curve_of(**wrong)
