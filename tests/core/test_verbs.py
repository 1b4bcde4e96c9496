"""The table of verbs: lines as the browser reads them, too, and texts in place of tuples."""

from typing import Any

import pytest

from explorer.core.errors import ConfigError, ExplorerError, InterventionError
from explorer.core.i18n import LANGUAGES, say
from explorer.core.interventions import Interventions
from explorer.core.verbs import VERBS, chip, examples_of, form, line, ranges, read, typed, word_of
from tests.support.shared_examples import shared_examples

EXAMPLES = shared_examples("intervention")  # of the parser of 27 November 2026, and by hand


def parts(text: str) -> dict[str, Any] | str:
    """The verb and the values of a line, or the key of its refusal."""
    try:
        one = read(text)
    except InterventionError as error:
        return error.key
    values = {"verb": word_of(one), **one._asdict()}
    values.pop("open", None)  # is the verb
    for name in ("k", "p"):
        if values.get(name, 0) is None:
            del values[name]
    return values


def test_lines_give_what_they_give_in_the_browser():
    assert len(EXAMPLES["lines"]) > 300
    for one in EXAMPLES["lines"]:
        given = dict(one["gives"]) if isinstance(one["gives"], dict) else one["gives"]
        if "weights" in given and isinstance(given, dict):
            given["weights"] = tuple(given["weights"])
        assert parts(one["line"]) == given, one["line"]


def test_a_line_that_is_read_is_written_and_read_again():
    for one in EXAMPLES["lines"]:
        if isinstance(one["gives"], dict):
            done = read(one["line"])
            assert read(line(done)) == read(typed(done)) == done, one["line"]


def test_chips_have_the_facts_that_they_have_in_the_browser():
    for one in EXAMPLES["chips"]:
        key, facts, more = chip(read(one["line"]))
        assert (key, facts, [list(pair) for pair in more]) == (
            one["key"],
            one["facts"],
            one["more"],
        )
    assert {one["line"].split()[0] for one in EXAMPLES["chips"]} == set(VERBS)


def test_the_gestures_are_those_that_a_test_of_the_browser_makes():
    gestures = {word: verb.gesture for word, verb in VERBS.items() if verb.gesture}
    assert gestures == EXAMPLES["gestures"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_chip_has_a_sentence_that_says_all_its_facts(language):
    for one in EXAMPLES["chips"]:
        plain = say(f"player.{one['key']}", language)
        assert all(f"{{{name}}}" in plain for name in one["facts"]), plain
        assert VERBS[one["line"].split()[0]].has("site") == ("{head}" in plain), plain


def test_the_examples_of_a_verb_are_its_lines():
    for word, verb in VERBS.items():
        for example in examples_of(word):
            assert word_of(read(example)) == word
            assert type(read(example)) is verb.kind


@pytest.mark.parametrize("word", VERBS)
def test_the_sentence_on_a_wrong_line_shows_how_its_verb_is_written(word):
    for language in LANGUAGES:
        with pytest.raises(InterventionError) as caught:
            read(f"{word} ?")
        sentence = caught.value.in_language(language)
        assert "?" in sentence
        assert VERBS[word].examples[0] in sentence


def test_the_form_of_a_verb_names_its_words():
    assert form("ablate") == "HEAD [HOW]"
    assert form("close") == "HEAD QUERY KEY"
    assert form("draw") == "TEMPERATURE SEED [k=K] [p=P]"


def test_the_ends_of_a_range_are_allowed_and_what_lies_beyond_is_not():
    assert ranges("draw") == {
        **{"temperature_least": "0.1", "temperature_most": "5"},
        **{"seed_least": "0", "seed_most": "9999", "k_least": "1", "k_most": "9999"},
        **{"p_least": "0", "p_most": "1"},
    }
    for inside in ("0.1 0 k=1 p=1", "5 9999 k=9999 p=1e-9"):
        assert parts(f"draw {inside}") != "bad_drawing"
    for beyond in (
        "0.0999 0",
        "5.001 0",
        "1 10000",
        "1 0 k=0",
        "1 0 k=10000",
        "1 0 p=0",
        "1 0 p=1.01",
    ):
        assert parts(f"draw {beyond}") == "bad_drawing"


@pytest.mark.parametrize(
    ("option", "texts", "tuples"),
    [
        (
            "ablate",
            ["cross.1.1", "ablate cross.0.* mean"],
            [("cross", 1, 1), ("cross", 0, None, "mean")],
        ),
        ("keep", ["cross.1.*"], [("cross", 1, None)]),
        ("edit_mask", ["cross.1.2 3 0"], [("cross", 1, 2, 3, 0)]),
        ("edit_mask", ["unmask decoder.*.* 1 2"], [("decoder", None, None, 1, 2, True)]),
        (
            "edit_mask",
            ["open cross.0.0 1 2", "close cross.0.0 1 1"],
            [("cross", 0, 0, 1, 2, True), ("cross", 0, 0, 1, 1)],
        ),
        ("without", ["mask", "omit scaling"], ["mask", "scaling"]),
        ("override_row", ["cross.1.2 3 0.5, 0 0.5"], [("cross", 1, 2, 3, (0.5, 0, 0.5))]),
    ],
)
def test_a_text_is_taken_in_place_of_a_tuple(option, texts, tuples):
    mixed = [*texts[:1], *tuples[1:]]
    for given in (texts, mixed):
        assert Interventions.gather(**{option: given}) == Interventions.gather(**{option: tuples})


def test_a_drawing_may_be_a_text():
    drawn = Interventions.gather(draw="0.8 7 k=40")
    assert drawn == Interventions.gather(draw=(0.8, 7, 40))
    assert drawn.texts() == ("draw 0.8 7 k=40",)
    with pytest.raises(ConfigError, match=r"It is not '0\.8'"):
        Interventions.gather(draw="0.8")


@pytest.mark.parametrize(
    ("option", "text", "sentence"),
    [
        ("ablate", "cross.1", "or of texts, such as [\"cross.1.2\"]; in it was 'cross.1'."),
        ("ablate", "keep cross.1.2", "in it was 'keep cross.1.2'."),
        ("keep", "", "in it was ''."),
        ("edit_mask", "cross.1.2 3", "[\"cross.1.2 3 0\"]; in it was 'cross.1.2 3'."),
        ("ablate", "cros.1.2", "There is no attention called “cros”"),
        ("override_row", "cross.1.2 3 0,0", "The weights given for query 3 are no row"),
    ],
)
def test_a_wrong_text_in_place_of_a_tuple_is_refused_in_one_sentence(option, text, sentence):
    with pytest.raises(ExplorerError) as caught:
        Interventions.gather(**{option: [text]})
    assert sentence in str(caught.value)
