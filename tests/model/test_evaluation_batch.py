import numpy as np
import pytest
import torch

from explorer.core.errors import EvaluationBatchError
from explorer.core.vocabulary import EOS
from explorer.data.toy_data import find_task
from explorer.heads.metrics.evaluation_batches import task_sentences
from explorer.model.evaluation_batch import EvaluationBatch, TokenKind, TokenRows, teacher_forced

CONTENT, SPECIAL, END, PADDING = TokenKind


def kind(token):
    return {1: SPECIAL, 2: END}.get(token, CONTENT)


def test_padding_is_known_by_its_place_not_by_its_id():
    """Some models pad with the token that ends a text."""
    rows = TokenRows.of([[1, 7, 8, 2], [7, 2]], kind, padding=2)
    assert rows.ids.tolist() == [[1, 7, 8, 2], [7, 2, 2, 2]]
    assert rows.real.tolist() == [[True] * 4, [True, True, False, False]]
    assert rows.ends.tolist() == [[False, False, False, True], [False, True, False, False]]
    assert rows.special.tolist() == [[True, False, False, True], [False, True, True, True]]
    assert rows.content_numbers.tolist() == [[-1, 0, 1, -1], [0, -1, -1, -1]]
    assert rows.lengths.tolist() == [4, 2]


def test_rows_are_chosen_without_the_padding_of_all():
    rows = TokenRows.of([[1, 7, 8, 2], [7, 2], [8]], kind, padding=0)
    some = rows.chosen(torch.tensor([2, 1]))
    assert some.ids.tolist() == [[8, 0], [7, 2]]
    assert some.kinds.tolist() == [[CONTENT, PADDING], [CONTENT, END]]
    assert some.repeated(2).ids.tolist() == [[8, 0], [7, 2], [8, 0], [7, 2]]
    assert len(TokenRows.of([], kind, 0)) == 0


def test_a_text_predicts_its_own_next_tokens():
    rows = TokenRows.of([[7, 8, 2], [9]], kind, padding=2).shifted()
    assert rows.ids[0, :2].tolist() == [8, 2]
    assert rows.real.tolist() == [[True, True, False], [False, False, False]]


def test_a_decoder_is_fed_all_but_the_last_token():
    target = TokenRows.of([[1, 7, 8, 2], [1, 2]], kind, padding=0)
    queries, labels = teacher_forced(target, 0)
    assert queries.ids.tolist() == [[1, 7, 8], [1, 0, 0]]
    assert queries.kinds.tolist() == [[SPECIAL, CONTENT, CONTENT], [SPECIAL, PADDING, PADDING]]
    assert labels.ids.tolist() == [[7, 8, 2], [2, 0, 0]]
    assert labels.real.tolist() == [[True] * 3, [True, False, False]]


def test_parts_contain_every_sentence_once_without_extra_padding(explorable):
    batch = task_sentences(explorable, 37)
    parts = list(batch.parts(8))
    assert sum(map(len, parts)) == 37
    for part in parts:
        assert part.source.real.any(0).all()
        assert part.queries.real.any(0).all()
        assert part.labels.ids.shape == part.queries.ids.shape
    rows = {
        tuple(token for token in row if token) for part in parts for row in part.source.ids.tolist()
    }
    assert rows == {tuple(token for token in row if token) for row in batch.source.ids.tolist()}


def test_an_encoder_alone_has_a_label_for_each_position():
    source = TokenRows.of([[5, 6, 7], [5]], lambda _: TokenKind.CONTENT, 0)
    nothing = TokenRows(source.ids, source.kinds * 0 + TokenKind.PADDING)
    batch = EvaluationBatch(source, None, nothing, "two", "none")
    shapes = [tuple(part.labels.ids.shape) for part in batch.parts(1)]
    assert shapes == [(1, 1), (1, 3)]
    assert batch.gold() is None
    assert (batch.longest, batch.pass_tokens) == (3, 6)


def test_gold_is_the_alignment_of_the_task(explorable):
    batch = task_sentences(explorable, 10)
    for row, gold in zip(batch.source.ids.tolist(), batch.gold(), strict=True):
        symbols = [token for token in row if token > EOS]
        size = len(symbols)
        alignment = find_task("reverse").alignment(symbols)
        np.testing.assert_array_equal(gold[:size, :size], alignment)
        assert gold.sum() == size


def test_no_sentence_is_refused(explorable):
    for make in (
        lambda: explorable.passes.texts([], "none"),
        lambda: task_sentences(explorable, 5).first(0),
    ):
        with pytest.raises(EvaluationBatchError) as caught:
            make()
        assert caught.value.key == "no_sentences"
