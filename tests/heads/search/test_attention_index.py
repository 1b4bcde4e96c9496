"""Searches of an index; what every trace of the corpus says, cell by cell, is the oracle."""

import json
import random
from urllib.parse import parse_qsl

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import explorer
from explorer.core import folders
from explorer.core.errors import ConfigError, FileError, SearchError
from explorer.core.look import Request, from_query
from explorer.core.section_questions import KEY_PARTS
from explorer.core.word_segmentation import is_punctuation
from explorer.heads.search import attention_index
from explorer.heads.search.attention_index import COLUMNS, open_index
from tests.support import model_directories
from tests.support.huggingface_families import saved, tiny_model

SPECIAL = ("<bos>", "<eos>", "[CLS]", "[SEP]")


def shipped(name):
    return explorer.load(folders.checkpoints() / f"{name}.safetensors")


def sequences(count, least=3, most=9, seed=0):
    """Different toy sequences."""
    drawn = random.Random(seed)
    found = {}
    while len(found) < count:
        length = drawn.randint(least, most)
        found[" ".join(str(drawn.randint(1, 9)) for _ in range(length))] = None
    return list(found)


def english(count):
    path = folders.checkpoints() / "gold" / "english-french.tsv"
    return [line.split("\t")[0] for line in path.read_text("utf-8").splitlines()[:count]]


def bare(label):
    return label.lstrip("▁Ġ").removeprefix("##")


def is_asked(labels, query, key, tokens=(None, None), offset=None, part=None):
    """Whether the cell of these positions is one of those that are asked for."""
    if any(own is not None and own != bare(one) for own, one in zip(tokens, labels, strict=True)):
        return False
    if offset is not None and key - query != offset:
        return False
    content = labels[1] not in SPECIAL
    return {
        None: True,
        "end": labels[1] in ("<eos>", "[SEP]"),
        "special": not content,
        "content": content,
        "punctuation": content and is_punctuation(labels[1]),
        "same token": content and labels[0] == labels[1] and query != key,
    }[part]


def strongest(trace, head, **question):
    """The largest weight of a head on an asked cell of a trace; 0 without one."""
    weights = trace.attention(head[0])[head[1], head[2]]
    queries, keys = trace.queries(head[0]), trace.keys(head[0])
    asked = [
        float(weight)
        for (query, key), weight in np.ndenumerate(weights)
        if is_asked((queries[query], keys[key]), query, key, **question)
    ]
    return max(asked, default=0.0)


def check(index, traces, head, **question):
    """Hold one search to the traces. Returns the number of rows."""
    found = index.search(head, top=len(traces), **question)
    assert tuple(found.columns) == COLUMNS
    expected = [strongest(trace, head, **question) for trace in traces]
    assert found.weight.is_monotonic_decreasing
    assert found.sentence.is_unique
    for row in found.itertuples():
        trace = traces[row.sentence]
        assert row.weight == pytest.approx(expected[row.sentence], abs=0.003)
        weights = trace.attention(head[0])[head[1], head[2]]
        assert row.weight == pytest.approx(float(weights[row.query, row.key]), abs=0.003)
        labels = trace.queries(head[0])[row.query], trace.keys(head[0])[row.key]
        assert is_asked(labels, row.query, row.key, **question)
        assert (bare(row.query_token), bare(row.key_token)) == tuple(map(bare, labels))
        assert row.source == trace.facts["text"]
    left_out = set(range(len(traces))) - set(found.sentence)
    assert all(expected[number] < 0.003 for number in left_out)
    return len(found)


def check_links(index, model, head):
    """Each address opens its cell in the trace that Explore makes of it."""
    for row in index.search(head, top=3).itertuples():
        initial = {model.name: Request(model.name, "")}
        look, refused = from_query(dict(parse_qsl(row.link.removeprefix("?"))), initial)
        assert not refused
        request = look.request
        trace = model.trace(request.text, force=dict(request.forced))
        selection, missing = look.selection.within(trace)
        assert not missing
        assert (selection.named_head, selection.cell) == (head, (row.query, row.key))
        selection, missing = selection.at_cell(trace)
        assert not missing
        weights = trace.attention(head[0])[head[1], head[2]]
        assert row.weight == pytest.approx(float(weights[row.query, row.key]), abs=0.003)


def test_all_questions_of_a_translator(tmp_path):
    model, texts = shipped("english-french"), english(30)
    index = model.index(texts, tmp_path / "some.index")
    traces = [model.trace(text) for text in texts]
    for head in (("cross", 1, 2), ("decoder", 0, 3), ("encoder", 2, 1)):
        nowhere = {"cross": "same token", "decoder": "end"}.get(head[0])
        for part in {None, *KEY_PARTS} - {nowhere}:
            assert check(index, traces, head, part=part) > 0
        assert check(index, traces, head, offset=-1) > 0
        assert check(index, traces, head, offset=1) > 0 or head[0] == "decoder"
        check_links(index, model, head)
    assert check(index, traces, ("cross", 1, 2), tokens=(None, "the")) > 0
    assert check(index, traces, ("encoder", 0, 0), tokens=("the", ".")) > 0
    assert check(index, traces, ("decoder", 0, 0), tokens=("le", None), offset=0) > 0
    targets = index.search(("cross", 0, 0), top=30).sort_values("sentence").target
    assert targets.to_list() == [trace.text for trace in traces]


def test_pairs_have_the_given_translation(tmp_path):
    model = shipped("english-french")
    pairs = [("I am late.", "Je suis en retard."), ("I am late.", "Je suis tard.")]
    index = model.index(pairs, tmp_path / "pairs.index")
    traces = [model.trace(source, target=target) for source, target in pairs]
    assert check(index, traces, ("cross", 1, 2), tokens=("tard", None)) == 1
    check_links(index, model, ("cross", 1, 2))
    assert index.search(("cross", 0, 0)).target.to_list() != [""] * 2


def test_a_decoder_alone(tmp_path):
    model, texts = shipped("induction"), sequences(30)
    index = model.index(texts, tmp_path / "induction.index")
    traces = [model.trace(text, max_new_tokens=1) for text in texts]
    for head in index.heads:
        assert check(index, traces, head, part="special") > 0
        assert check(index, traces, head, tokens=(None, "7")) > 0
        assert check(index, traces, head, offset=-1) > 0
        check_links(index, model, head)
    # The text alone is searched, so its last token is a query and nothing is decoded after it.
    assert set(index.search(index.heads[0]).target) == {""}


@pytest.mark.parametrize("family", ["marian", "gpt_neo"])
def test_models_of_the_library(family, tmp_path):
    model = explorer.load(saved(tiny_model(family), tmp_path / family))
    drawn = random.Random(1)
    texts = [" ".join(str(drawn.randint(4, 12)) for _ in range(6)) for _ in range(30)]
    index = model.index(texts, tmp_path / "library.index")
    most = 64 if family == "marian" else 1  # of a decoder alone the text itself
    traces = [model.trace(text, max_new_tokens=most) for text in texts]
    for head in (index.heads[0], index.heads[-1]):
        assert check(index, traces, head) == len(traces)
        assert check(index, traces, head, offset=-1) > 0
        assert check(index, traces, head, tokens=(None, "7")) > 0


def test_an_encoder_that_fills_in_masks_reads_the_texts_as_they_are(tmp_path):
    model = explorer.load(model_directories.bert(tmp_path / "bert"))
    texts = ["the cat sees the dog", "the dog"]
    index = model.index(texts, tmp_path / "bert.index")
    traces = [model.trace(text) for text in texts]
    assert check(index, traces, index.heads[-1]) == 2
    assert check(index, traces, index.heads[0], part="same token") >= 1
    pairs = model.index([("the cat", "the dog")], tmp_path / "pairs.index")
    (row,) = pairs.search(index.heads[0]).itertuples()
    weights = model.trace("the cat", pair="the dog").attention("encoder")[0, 0]
    assert row.weight == pytest.approx(float(weights.max()), abs=0.003)
    assert dict(parse_qsl(row.link))["pair"] == "the dog"


def test_equal_weights_are_in_the_order_of_the_corpus(tmp_path):
    """The first row of a decoder has one key: its weight is 1 in every sentence."""
    model = shipped("reverse")
    texts = sequences(25)
    index = model.index(texts, tmp_path / "ties.index")
    found = index.search(("decoder", 0, 0), tokens=("<bos>", None), top=5)
    assert found.weight.to_list() == [1.0] * 5
    assert found.sentence.to_list() == [0, 1, 2, 3, 4]
    assert found[["query", "key"]].to_numpy().tolist() == [[0, 0]] * 5


def test_a_sentence_too_long_for_an_address_has_no_link(tmp_path, monkeypatch):
    model = shipped("reverse")
    index = model.index([("1 2", "2 1"), ("3", "3")], tmp_path / "pairs.index")
    monkeypatch.setattr(attention_index, "MOST_FORCED", 2)  # both symbols and the end are three
    links = index.search(("cross", 0, 0)).set_index("sentence").link
    assert links[0] == ""
    assert dict(parse_qsl(links[1].removeprefix("?")))["force"].startswith("1.")
    monkeypatch.setattr(attention_index, "LONGEST_LINKED_TEXT", 0)
    assert set(index.search(("cross", 0, 0)).link) == {""}


def test_a_token_is_found_as_it_is_written_and_as_it_is_shown(tmp_path):
    index = shipped("english-french").index(["I have a black cat."], tmp_path / "one.index")
    head = ("decoder", 1, 2)
    for shown, label in (("bos", "<bos>"), ("_chat", "▁chat"), ("chat", "▁chat")):
        found = index.search(head, tokens=(shown, None))
        assert found.query_token.tolist() == [label]
        assert found.equals(index.search(head, tokens=(label, None)))


def test_what_is_no_question(tmp_path):
    index = shipped("reverse").index(["7 3 9"], tmp_path / "one.index")
    head = ("cross", 1, 2)
    for wrong in ("cross", ("cross", 1), ("cross", 9, 0), (0, 1, 2), 5):
        with pytest.raises(SearchError, match="no head of this model"):
            index.search(wrong)
    for question, key in (
        ({"tokens": ("8", None)}, "no_token_in_target"),
        ({"tokens": (None, "8")}, "no_token_in_source"),
        ({"part": "middle"}, "unknown_part"),
        ({"part": "same token"}, "no_same_token"),
        ({"tokens": "7"}, "no_pair_of_tokens"),
        ({"tokens": (7, None)}, "no_pair_of_tokens"),
        ({"offset": 0.5}, "no_offset"),
        ({"offset": True}, "no_offset"),
        ({"top": 0}, "no_whole_number"),
        ({"top": "5"}, "no_whole_number"),
    ):
        with pytest.raises((SearchError, ConfigError)) as caught:
            index.search(head, **question)
        assert caught.value.key == key
    assert index.search(head, offset=50).empty
    assert index.search("cross.1.2").equals(index.search(head))
    assert index.search(head, offset=np.int64(1), top=np.int64(1)).shape[0] == 1


def test_files_that_are_no_index(tmp_path):
    with pytest.raises(FileError):
        open_index(tmp_path / "missing")
    with pytest.raises(FileError):
        open_index(tmp_path)
    path = tmp_path / "good.index"
    index = shipped("reverse").index(["7 3 9", "4 1"], path)
    assert len(explorer.open_index(path)) == len(index) == 2
    tensors = load_file(path)
    metadata = dict(index._file.metadata())
    version = metadata["index"].replace('"version": 1', '"version": 2')
    for number, (changed, facts) in enumerate(
        [
            (tensors, {}),
            (tensors, {"index": "{}"}),
            (tensors, {"index": "[1]"}),
            (tensors, {"index": version}),
            (tensors | {"cross": tensors["cross"][:, 1:].copy()}, metadata),
            (tensors | {"source.ids": tensors["source.ids"][1:].copy()}, metadata),
            ({name: one for name, one in tensors.items() if name != "encoder"}, metadata),
        ]
    ):
        save_file(changed, tmp_path / f"{number}.index", facts)
    (tmp_path / "text.index").write_text("no index")
    (tmp_path / "empty.index").write_bytes(b"")
    (tmp_path / "half.index").write_bytes(path.read_bytes()[:-9])
    for bad in sorted(tmp_path.glob("*.index")):
        if bad != path:
            with pytest.raises(SearchError) as caught:
                open_index(bad)
            assert caught.value.key == "no_index", bad


@pytest.fixture(scope="module")
def index_of_two(tmp_path_factory):
    """An index of two texts: its tensors and its facts."""
    path = tmp_path_factory.mktemp("index") / "good.index"
    index = shipped("reverse").index(["7 3 9", "4 1"], path)
    return load_file(path), json.loads(index._file.metadata()["index"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", 3),
        ("digest", None),
        ("corpus", []),
        ("name", {}),
        ("heads", []),
        ("heads", [["elsewhere", 0, 0]]),
        ("heads", [["cross", "0", 0]]),
        ("sources", "ab"),
        ("sources", [None, 1]),
        ("sources", ["7 \ud800", "4 1"]),
        ("targets", None),
        ("targets", [1, {}]),
        ("joined", None),
        ("forced", [[1, "2"], []]),
        ("languages", 1),
        ("languages", ["fr"]),
        ("languages", [1, 2]),
        ("labels", {"source": {}, "target": {}}),
        ("labels", {"source": {"x": "1"}}),
        ("labels", []),
        ("version", 2),
    ],
)
def test_an_index_with_other_facts_is_refused(index_of_two, name, value, tmp_path):
    tensors, facts = index_of_two
    save_file(tensors, tmp_path / "odd.index", {"index": json.dumps({**facts, name: value})})
    with pytest.raises(SearchError) as caught:
        open_index(tmp_path / "odd.index")
    assert caught.value.key == "no_index"


def test_an_index_whose_facts_are_nested_too_deeply_is_refused(index_of_two, tmp_path):
    tensors, facts = index_of_two
    deep = json.dumps({"more": 0, **facts}).replace("0", "[" * 9000 + "]" * 9000, 1)
    save_file(tensors, tmp_path / "odd.index", {"index": deep})
    with pytest.raises(SearchError) as caught:
        open_index(tmp_path / "odd.index")
    assert caught.value.key == "no_index"
