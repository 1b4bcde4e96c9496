"""Links of sentence pairs, against those of a trace of each pair alone."""

from pathlib import Path

import pytest

from explorer.core.alignment import align, align_words
from explorer.core.errors import AlignmentError
from explorer.core.word_segmentation import grouped, spaced
from explorer.heads.alignment.gold_file import AlignmentFile
from explorer.heads.alignment.pair_links import pair_links
from explorer.model.explorable import ExplorableModel, load

ROOT = Path(__file__).parents[3]
TWO, FOUR = ("1", "2"), ("1", "2", "3", "4")


@pytest.fixture(scope="module")
def translator() -> ExplorableModel:
    return load(ROOT / "checkpoints" / "english-french.safetensors")


def table(*rows: tuple[str, ...]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize(("head", "timing"), [(0, "input"), (2, "prediction"), (None, "input")])
def test_links_are_those_of_the_trace_of_each_pair(
    explorable: ExplorableModel, head: int | None, timing: str
) -> None:
    pairs = (("1 2 3", "3 2 1"), ("2 甲", "甲 2"), ("1", "1"))
    shares: list[float] = []
    file = AlignmentFile.parse(table(*pairs), "x", TWO)
    found = pair_links(explorable, file, 1, head, timing, shares.append)
    for (source, target), links in zip(pairs, found, strict=True):
        assert links == align(explorable.trace(source, target=target), 1, head, timing)
        assert {to for _, to in links or ()} == set(range(len(target.split())))
    assert shares == pytest.approx([1 / 3, 2 / 3, 1])


@pytest.mark.parametrize(("unit", "grouping"), [("words", grouped), ("whitespace", spaced)])
def test_links_count_what_is_asked_for(translator: ExplorableModel, unit, grouping) -> None:
    """The app shows "don't" as one word, spaces separate "do" and "n't"."""
    pair = ("I do n't like Mr. Brown 's 15 cats .", "Je n' aime pas les 15 chats de M. Brown .")
    file = AlignmentFile.parse(table(pair), "x", TWO, unit)
    (found,) = pair_links(translator, file, 1, 3, "input")
    trace = translator.trace(pair[0], target=pair[1])
    assert found == align_words(trace, 1, 3, "input", grouping)


def test_given_tokens_between_spaces_are_those_of_whitespace(translator: ExplorableModel) -> None:
    pairs = (
        ("I do n't like Mr. Brown 's cats .", "Je n' aime pas les chats de M. Brown ."),
        ("He said : “ 15 ” …", "Il a dit : « 15 » …"),
    )
    given = AlignmentFile.parse(table(*(2 * pair for pair in pairs)), "x", FOUR)
    spaces = AlignmentFile.parse(table(*pairs), "x", TWO, "whitespace")
    assert pair_links(translator, given, 1, 3) == pair_links(translator, spaces, 1, 3)


def test_tokens_that_the_model_does_not_read_are_refused_with_their_row(
    translator: ExplorableModel,
) -> None:
    spaces = AlignmentFile.parse(table(("one▁two three", "un deux")), "x", TWO, "whitespace")
    with pytest.raises(AlignmentError, match="Row 1 has a text of 2 tokens"):
        pair_links(translator, spaces, 1, 3)


def test_a_pair_that_is_too_long_has_no_links(explorable: ExplorableModel) -> None:
    pairs = (("1 2 3", "3 2 1"), (" ".join("1" * 11), "1"), ("1", "1"))
    found = pair_links(explorable, AlignmentFile.parse(table(*pairs), "x", TWO), 0, 0)
    assert [links is None for links in found] == [False, True, False]


def test_a_head_that_does_not_exist_is_refused(explorable: ExplorableModel) -> None:
    file = AlignmentFile.parse(table(("1", "1")), "x", TWO)
    for layer, head, name in ((9, None, "no L9"), (1, 3, "no L1 H3")):
        with pytest.raises(AlignmentError, match=name):
            pair_links(explorable, file, layer, head)
