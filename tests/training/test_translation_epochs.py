import re
from dataclasses import replace

import pytest

from explorer.core.sentencepiece_vocabulary import learn_pieces
from explorer.data.augmentation import Augmentation
from explorer.data.parallel_corpus import Pair
from explorer.training.config import TrainingConfig
from explorer.training.translation_epochs import TranslationEpochs, without_final_mark
from tests.support.toy_sentences import SENTENCES, TINY_PAIRS, as_chinese_table

PAIRS = [Pair(*texts) for texts in SENTENCES]
PIECES = learn_pieces([text for texts in SENTENCES for text in texts], 400)
PLAIN = replace(TINY_PAIRS, joined=0.0)


def epochs(config: TrainingConfig, pairs: list[Pair] = PAIRS, starts=(0,)) -> TranslationEpochs:
    return TranslationEpochs(config, pairs, (PIECES, PIECES), Augmentation(pairs), starts)


def first_epoch(config: TrainingConfig) -> list[tuple[str, str]]:
    """The texts of the batches of the first epoch."""
    found = epochs(config)
    size = 0
    texts = []
    while len(found.starts) == 1:
        rows = found.batch(size)
        if len(found.starts) == 1:
            texts += [(PIECES.decode(source), PIECES.decode(target)) for source, target in rows]
        size += 1
    return texts


def test_every_pair_is_seen_once_an_epoch_alone_or_joined():
    seen = first_epoch(replace(PLAIN, batch_tokens=400))
    assert sorted(seen) == sorted(SENTENCES)
    joined = first_epoch(replace(PLAIN, batch_tokens=400, joined=0.5, longest=60))
    sources = sorted(
        f"{part.strip()}." for source, _ in joined for part in source.split(".") if part
    )
    assert sources == sorted(source for source, _ in SENTENCES)
    assert len(joined) < len(SENTENCES)


def test_a_batch_by_tokens_has_rows_of_similar_length_and_no_more_tokens():
    found = epochs(replace(PLAIN, batch_tokens=400, joined=0.3, longest=60))
    for step in range(20):
        rows = found.batch(step)
        widest = max(len(s) + 1 for s, _ in rows) + max(len(t) + 1 for _, t in rows)
        assert len(rows) * widest <= 400
        assert len({len(source) for source, _ in rows}) <= 4


def test_the_rows_of_a_step_follow_from_its_number_and_the_seed():
    config = replace(PLAIN, batch_tokens=400, subword_alpha=0.2, joined=0.2)
    one, other = epochs(config), epochs(config)
    for step in (0, 3, 60, 5, 150):
        assert one.batch(step) == other.batch(step)
    assert epochs(config).batch(150) == one.batch(150)
    assert epochs(config, starts=one.starts).batch(150) == one.batch(150)
    assert epochs(replace(config, seed=1)).batch(0) != one.batch(0)
    assert one.batch(one.starts[1]) != one.batch(0)


def test_sampled_segmentation_changes_the_pieces_and_not_the_text():
    config = replace(PLAIN, subword_alpha=0.2, batch=240)
    rows = epochs(config).batch(0)
    texts = [(PIECES.decode(source), PIECES.decode(target)) for source, target in rows]
    assert sorted(texts) == sorted(SENTENCES)
    changed = sum(
        PIECES.encode_all([text])[0] != row[0] for (text, _), row in zip(texts, rows, strict=True)
    )
    assert changed > 60


@pytest.mark.parametrize("chinese", [False, True])
def test_joined_sources_are_mostly_separated_as_the_language_does(chinese):
    pairs = PAIRS
    if chinese:
        rows = [line.split("\t") for line in as_chinese_table().splitlines()]
        pairs = [Pair(second, first) for first, second in rows]
    pieces = learn_pieces([text for pair in pairs for text in (pair.source, pair.target)], 600)
    config = replace(PLAIN, joined=1.0, longest=80, batch_tokens=2000)
    found = TranslationEpochs(config, pairs, (pieces, pieces), Augmentation(pairs))
    sources = [pieces.decode(s) for step in range(40) for s, _ in found.batch(step)]
    targets = [pieces.decode(t) for step in range(40) for _, t in found.batch(step)]
    spaced = sum(bool(re.search(r"[.。] ", source)) for source in sources)
    several = sum(len(re.findall("[.。]", source)) > 1 for source in sources)
    share = spaced / several
    assert share < 0.3 if chinese else share > 0.7
    assert 0 < spaced < several
    assert not any(re.search(r"\.[^ ]", target) for target in targets)


def test_copied_lines_and_lines_without_a_final_mark_have_their_share():
    texts = first_epoch(replace(PLAIN, batch_tokens=400, copied=0.25, unpunctuated=0.5))
    assert len(texts) == 300
    own = [
        texts
        for texts in texts
        if (f"{texts[0].rstrip('.')}.", f"{texts[1].rstrip('.')}.") in set(SENTENCES)
    ]
    assert 240 <= len(own) <= 260
    bare = [source for source, _ in own if not source.endswith(".")]
    assert 80 < len(bare) < 160


@pytest.mark.parametrize("joined", [0.0, 1.0])
def test_lines_from_patterns_have_their_share_and_are_joined_as_pairs_are(joined):
    rows = [line.split("\t") for line in as_chinese_table().splitlines()]
    pairs = [Pair(second, first) for first, second in rows]
    augmentation = Augmentation(pairs)
    pieces = learn_pieces(
        [text for pair in augmentation.sample(0.0, 4.0, 0) for text in (pair.source, pair.target)],
        2000,
    )
    config = replace(PLAIN, joined=joined, longest=250, batch_tokens=8000, patterned=0.25)
    found = TranslationEpochs(config, pairs, (pieces, pieces), augmentation)
    found.batch(0)
    texts = [pieces.decode(target) for rows in found._batches for _, target in rows]
    known = {pair.target for pair in pairs}
    others = [text for text in texts if not any(text.startswith(one) for one in known)]
    if not joined:
        assert len(texts) == 300
        assert len(others) == 60
    else:
        assert 60 / 8 <= len(others) <= 60 / 2
        assert all(len(re.findall("[.!?]", text)) > 1 for text in others)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("Hello.", "Bonjour !", ("Hello", "Bonjour")),
        ("你好。", "Hello.", ("你好", "Hello")),
        ("Hello.", "Bonjour", ("Hello.", "Bonjour")),
        (".", ".", (".", ".")),
    ],
)
def test_the_final_mark_goes_on_both_sides_or_on_none(source, target, expected):
    pair = without_final_mark(Pair(source, target))
    assert (pair.source, pair.target) == expected
