import numpy as np
import pytest

from explorer.core.errors import EvaluationBatchError
from explorer.core.vocabulary import EOS
from explorer.data.toy_data import find_task
from explorer.heads.metrics.evaluation_batches import task_sentences
from explorer.model.evaluation_batch import EvaluationBatch
from explorer.model.token_rows import TokenKind, TokenRows


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
