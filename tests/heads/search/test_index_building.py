import json

import pytest

from explorer.core.errors import EvaluationBatchError, FileError, SearchError, VocabularyError
from explorer.heads.search import index_building
from explorer.heads.search.attention_index import open_index
from explorer.heads.search.index_building import Corpus, attention_index

TEXTS = ["1 2 3", "3 2", "3 甲 1 2"]


def test_an_index_that_is_there_is_opened_and_another_refused(
    explorable, continuing, tmp_path, monkeypatch
):
    path = tmp_path / "some.index"
    corpus = Corpus.of(explorable, TEXTS)
    shares = []
    index = attention_index(explorable, corpus, path, shares.append)
    assert shares[-1] == 1
    assert list(index.facts["sources"]) == TEXTS
    written = path.read_bytes()
    with pytest.raises(SearchError, match="of another model") as caught:
        attention_index(continuing, Corpus.of(continuing, TEXTS), path)
    assert caught.value.key == "other_index"
    with pytest.raises(SearchError):
        attention_index(explorable, Corpus.of(explorable, TEXTS[:2]), path)
    monkeypatch.setattr(index_building, "_indexed", None)  # nothing is built again
    assert len(attention_index(explorable, corpus, path)) == 3
    assert path.read_bytes() == written


def test_the_corpus_of_a_toy_model_are_its_held_out_sequences(explorable, tmp_path):
    corpus = Corpus.of(explorable, None)
    assert len(corpus.texts) > 100
    assert set("".join(corpus.texts)) <= set("123甲<b> ")
    assert len(Corpus.of(explorable, ["1 2", "3", "1 2"]).texts) == 2


def test_small_weights_are_left_out(explorable, tmp_path):
    corpus = Corpus.of(explorable, TEXTS)
    every = attention_index(explorable, corpus, tmp_path / "every.index")
    some = attention_index(explorable, corpus, tmp_path / "some.index", least=0.6)
    assert (every.least, some.least) == (0.5 / 255, 0.6)
    counts = []
    for head in every.heads:
        found = some.search(head)
        expected = every.search(head)
        expected = expected[expected.weight >= 0.6]
        assert found.to_dict("records") == expected.to_dict("records")
        counts.append(len(found))
    assert 0 < sum(counts) < len(every) * len(counts)


def test_a_build_that_ends_early_leaves_nothing(explorable, tmp_path):
    def ended(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attention_index(explorable, Corpus.of(explorable, TEXTS), tmp_path / "x.index", ended)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_indexed(explorable, tmp_path, monkeypatch):
    path = tmp_path / "x.index"
    with pytest.raises(EvaluationBatchError):
        attention_index(explorable, Corpus.of(explorable, []), path)
    with pytest.raises(EvaluationBatchError):
        Corpus.of(explorable, "1 2")
    with pytest.raises(VocabularyError):
        Corpus.of(explorable, ["1 2", "77"])
    with pytest.raises(FileError):
        attention_index(explorable, Corpus.of(explorable, TEXTS), tmp_path / "no" / "x.index")
    monkeypatch.setattr(index_building, "LARGEST_INDEX", 100)
    with pytest.raises(SearchError, match="fewer or shorter"):
        attention_index(explorable, Corpus.of(explorable, TEXTS), path)
    assert not path.exists()


def test_sentences_are_in_the_order_given_whatever_their_length(explorable, tmp_path):
    index = attention_index(explorable, Corpus.of(explorable, TEXTS), tmp_path / "x.index")
    alone = attention_index(explorable, Corpus.of(explorable, TEXTS[2:]), tmp_path / "y.index")
    head = ("encoder", 0, 0)
    (expected,) = alone.search(head).itertuples()
    found = index.search(head).set_index("sentence").loc[2]
    assert found.weight == pytest.approx(expected.weight, abs=0.005)
    assert (found.query, found.key, found.source) == (expected.query, expected.key, TEXTS[2])
    assert json.loads(open_index(tmp_path / "x.index")._file.metadata()["index"])["version"] == 1
