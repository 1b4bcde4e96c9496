from dataclasses import replace

from explorer.core.sentencepiece_vocabulary import learn_pieces
from explorer.training.epochs import count_pieces
from explorer.training.text_epochs import TextEpochs
from tests.support.toy_sentences import SENTENCES, TINY_TEXTS

TEXTS = [source for source, _ in SENTENCES]
PIECES = learn_pieces(TEXTS, 350)
PLAIN = replace(TINY_TEXTS, joined=0.0)


def first_epoch(config) -> list[list[int]]:
    found, rows, step = TextEpochs(config, TEXTS, PIECES), [], 0
    while len(found.starts) == 1:
        batch = found.batch(step)
        rows += batch if len(found.starts) == 1 else []
        step += 1
    return rows


def test_every_text_is_seen_once_an_epoch_alone_or_in_a_row():
    alone = [PIECES.decode(row) for row in first_epoch(PLAIN)]
    assert sorted(alone) == sorted(TEXTS)
    joined = [PIECES.decode(row) for row in first_epoch(replace(PLAIN, joined=0.5, longest=60))]
    assert sorted(f"{part.strip()}." for text in joined for part in text.split(".") if part) == (
        sorted(TEXTS)
    )
    assert len(joined) < len(TEXTS)


def test_a_batch_has_texts_of_similar_length_and_no_more_tokens_than_allowed():
    config = replace(PLAIN, joined=0.3, longest=60)
    for step in range(12):
        rows = TextEpochs(config, TEXTS, PIECES).batch(step)
        assert max(map(len, rows)) - min(map(len, rows)) < 20
        assert len(rows) * max(len(row) + 1 for row in rows) <= PLAIN.batch_tokens


def test_the_rows_of_a_step_follow_from_its_number_and_the_seed():
    one, other = (TextEpochs(TINY_TEXTS, TEXTS, PIECES) for _ in range(2))
    for step in (0, 40, 3):
        assert one.batch(step) == other.batch(step)
    assert TextEpochs(TINY_TEXTS, TEXTS, PIECES, one.starts).batch(40) == one.batch(40)
    assert TextEpochs(replace(TINY_TEXTS, seed=1), TEXTS, PIECES).batch(0) != one.batch(0)


def test_long_texts_are_left_out():
    longest = int(count_pieces(PIECES, TEXTS).max())
    found = TextEpochs(replace(PLAIN, longest=longest - 1), TEXTS, PIECES)
    assert 0 < len(found.fitting) < len(TEXTS)
