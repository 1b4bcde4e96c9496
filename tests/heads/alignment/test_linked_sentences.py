import numpy as np
import pytest
import torch

from explorer.core.errors import AlignmentError
from explorer.heads.alignment.linked_sentences import linked_sentences
from explorer.heads.measure import measure
from explorer.heads.metrics.evaluation_batches import task_sentences
from explorer.model.explorable import load
from explorer.model.huggingface.opening.loading import open_directory
from tests.support.app_server import ROOT
from tests.support.model_directories import bart


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("1 2 3\t3 1\t0-1 2-0\n2 2\t2 1\t0-0 1?0\n", "utf-8")
    return path


def test_links_are_those_of_the_rows_that_predict_a_word(explorable, file):
    """A symbol is one word here: row 0 predicts the first one."""
    batch = linked_sentences(explorable, file)
    assert batch.name == "gold.tsv"
    assert batch.links == (frozenset({(1, 0), (0, 2)}), frozenset({(0, 0), (0, 1)}))
    gold = batch.gold()
    assert np.argwhere(gold[0]).tolist() == [[0, 2], [1, 0]]
    assert np.argwhere(batch.first(1).gold()[0]).tolist() == [[0, 2], [1, 0]]
    assert batch.chosen(torch.tensor([1])).links == (batch.links[1],)


def test_three_files_line_by_line_are_the_same_table(explorable, file, tmp_path):
    """The links here as Marian writes them, with those of end tokens."""
    (tmp_path / "x.source").write_text("1 2 3\n2 2\n")
    (tmp_path / "x.target").write_text("3 1\n2 1\n")
    (tmp_path / "x.links").write_text("3 1 ||| 2-0 0-1 3-2\n2 1 ||| 0-0 1-0 2-2\n")
    batch = linked_sentences(explorable, tmp_path / "x.source,x.target,x.links")
    assert batch.name == "x.source,x.target,x.links"
    assert batch.links == linked_sentences(explorable, file).links


def test_a_word_of_several_pieces_is_linked_as_a_whole(tmp_path):
    model = load(ROOT / "checkpoints" / "english-french-early.safetensors")
    path = tmp_path / "gold.tsv"
    path.write_text("I see unbelievable things .\tJe vois .\t2-1 4-2\n", "utf-8")
    batch = linked_sentences(model, path)
    trace = model.trace("I see unbelievable things .", target="Je vois .")
    sources, outputs = trace.source_tokens, trace.predicted_tokens
    linked = {
        ("".join(outputs[row] for row in rows), "".join(sources[key] for key in keys))
        for rows, keys in _joined(batch.links[0])
    }
    assert linked == {("▁vois", "▁unbelievable"), ("▁.", "▁.")}


def test_a_pair_of_one_word_each_is_linked_as_a_whole(tmp_path):
    """Byte-level BPE marks no first word, so that neither side has a mark."""
    path = tmp_path / "gold.tsv"
    path.write_text("spaces\tmots\t0-0\n", "utf-8")
    batch = linked_sentences(open_directory(bart(tmp_path / "bart")), path)
    assert batch.source is not None
    keys = int(batch.source.lengths[0])
    assert keys > 3
    rows = {row for row, _ in batch.links[0]}
    assert len(rows) > 1
    assert batch.links[0] == {(row, key) for row in rows for key in range(keys)}


def test_tokens_in_columns_of_their_own_are_found_in_the_pieces(tmp_path):
    """The piece 我昨天 is of two tokens, and so has the links of both."""
    model = load(ROOT / "checkpoints" / "chinese-english.safetensors")
    path = tmp_path / "gold.tsv"
    path.write_text("我昨天买了书。\tI bought it.\t0-0 3?1\t我 昨天 买 了 书 。\tI bought it .\n")
    batch = linked_sentences(model, path, "12345")
    sources = model.passes.labels(batch.source.ids[0].tolist(), "source")
    outputs = model.passes.labels(batch.labels.ids[0].tolist(), "target")
    linked = {
        (outputs[row], "了" in sources[key], "我" in sources[key]) for row, key in batch.links[0]
    }
    assert linked == {("▁I", False, True), ("▁bought", True, False)}


def test_the_shipped_links_are_of_every_row_but_the_end():
    for name in ("english-french", "chinese-english"):
        model = load(ROOT / "checkpoints" / f"{name}.safetensors")
        path = ROOT / "checkpoints" / "gold" / f"{name}.tsv"
        batch = linked_sentences(model, path, "12345")
        assert len(batch) == 100
        gold = batch.gold()
        assert not gold[~batch.labels.real.numpy()].any()
        assert gold.any(-1).sum() > 0.8 * int(batch.labels.real.sum() - 100)


def _joined(links):
    """The rows and keys of links, those of one word together."""
    by_rows = {}
    for key in sorted({key for _, key in links}):
        rows = tuple(sorted(row for row, other in links if other == key))
        by_rows.setdefault(rows, []).append(key)
    return by_rows.items()


def test_the_alignment_is_measured_on_the_linked_pairs_alone(explorable, file):
    batch = task_sentences(explorable, 24)
    linked = linked_sentences(explorable, file)
    report = measure(explorable, batch, linked=linked)
    alone = measure(explorable, linked)
    assert report.facts["linked"] == {"batch": "gold.tsv", "sentences": 2}
    assert report.facts["sentences"] == 24
    for name in ("gold_weight", "gold_accuracy"):
        np.testing.assert_allclose(report.heads[name], alone.heads[name])
    others = measure(explorable, batch)
    np.testing.assert_allclose(report.heads.entropy, others.heads.entropy)
    own = report.roles[report.roles.role == "alignment"]
    assert set(own[own.site == "cross"].queries) == {3}  # rows with a link
    rest = report.roles.role != "alignment"
    np.testing.assert_allclose(report.roles[rest].score, others.roles[rest].score)


@pytest.mark.parametrize(
    ("text", "columns", "key"),
    [
        ("1 2\t3\t0-4\n", "123", "foreign_link"),
        ("1 2\t3\tno\n", "123", "bad_link"),
        ("1 2\t3\t0-0\n", "12", "linked_columns"),
    ],
)
def test_links_that_do_not_fit_are_refused(explorable, tmp_path, text, columns, key):
    path = tmp_path / "gold.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(AlignmentError) as caught:
        linked_sentences(explorable, path, columns)
    assert caught.value.key == key


def test_pairs_that_are_too_long_are_left_out(explorable, file):
    file.write_text(file.read_text("utf-8") + " ".join("1" * 20) + "\t3\t0-0\n", "utf-8")
    assert len(linked_sentences(explorable, file)) == 2
