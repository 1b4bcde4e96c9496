import numpy as np
import pandas as pd
import pytest

import explorer
from explorer.__main__ import main
from explorer.components.table_figure import TableFigure
from explorer.core import trace_size
from explorer.core.i18n import say
from explorer.core.trace import Trace
from explorer.model.checkpoint import save_checkpoint
from tests.support.model_directories import bert, gpt2
from tests.support.multilingual_directories import m2m100


@pytest.fixture
def tiny(explorable, tmp_path):
    """The path of a checkpoint of the `explorable` model."""
    save_checkpoint(explorable.checkpoint, tmp_path / "tiny.safetensors")
    return str(tmp_path / "tiny.safetensors")


def test_a_trace_is_written_as_a_page_or_a_file_or_printed(tiny, tmp_path, capsys):
    page, file = tmp_path / "x.html", tmp_path / "x.trace"
    assert main(["trace", tiny, "1 2", "--out", str(page)]) == 0
    assert "<html" in page.read_text(encoding="utf-8")[:200]
    output = explorer.load(tiny).trace("1 2").text
    assert capsys.readouterr().out == f"{page}: 1 2 → {output}\n"
    assert main(["trace", tiny, "1 2", "--pad-to", "5", "--out", str(file)]) == 0
    assert Trace.load(file).source_tokens[-1] == "<pad>"
    assert main(["trace", tiny, "1 2"]) == 0
    table = capsys.readouterr().out.split("\n\n")[-1].splitlines()
    assert table[0].split() == ["check", "error", "limit", "result"]
    assert [line.split()[0] for line in table[1:]].count("rows_sum_to_one") == 1
    assert {line.split()[3] for line in table[1:]} == {"ok"}


def test_a_classifier_says_its_class_and_a_tagger_the_tag_of_each_token(tmp_path, capsys):
    classifier = bert(tmp_path / "classifier", head="BertForSequenceClassification", num_labels=3)
    assert main(["trace", str(classifier), "The cat sat."]) == 0
    table = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert [line.split()[3] for line in table[1:]] == sorted(
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        key=lambda name: (
            -explorer.load(classifier)
            .trace("The cat sat.")
            .predictions()
            .set_index("label")
            .probability[name]
        ),
    )
    tagger = bert(tmp_path / "tagger", head="BertForTokenClassification", num_labels=3)
    assert main(["trace", str(tagger), "The cat."]) == 0
    table = capsys.readouterr().out.split("\n\n")[1].splitlines()
    tokens = explorer.load(tagger).trace("The cat.").source_tokens
    assert [line.split()[2] for line in table[1:]] == list(tokens[1:-1])


def test_characters_that_the_model_reads_in_bytes_are_noted(capsys):
    assert main(["trace", "english-french", "I like 😀 and 😀."]) == 0
    assert say("explore.note_characters", characters="😀") in capsys.readouterr().err
    assert main(["trace", "english-french", "I like tea."]) == 0
    assert capsys.readouterr().err == ""


def test_a_pair_is_read_as_two_texts_and_a_typed_separator_is_noted(tiny, tmp_path, capsys):
    model, file = str(bert(tmp_path / "bert")), tmp_path / "x.trace"
    assert main(["trace", model, "The cat.", "--pair", "A dog.", "--out", str(file)]) == 0
    trace = Trace.load(file)
    assert trace.facts["pair"] == "A dog."
    assert trace.source_tokens[trace.facts["second"] - 1] == "[SEP]"
    assert "note" not in capsys.readouterr().err
    assert main(["trace", model, "The cat. [SEP] A dog."]) == 0
    assert "[SEP]" in capsys.readouterr().err
    assert main(["trace", tiny, "1 2", "--pair", "3"]) == 2
    assert "no second text" in capsys.readouterr().err


def test_an_unwritable_path_is_an_error(tiny, tmp_path, capsys):
    assert main(["trace", tiny, "1", "--out", str(tmp_path / "no" / "x.trace")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_interventions_are_applied(tiny, tmp_path, capsys):
    file = tmp_path / "x.trace"
    given = ["--ablate", "cross.1.2", "--ablate", "cross.0.1 mean", "--keep", "encoder.0.1"]
    given += ["--mask", "cross.1.0 0 1", "--override-row", "cross.0.0 0 1,1"]
    assert main(["trace", tiny, "1 2", *given, "--out", str(file)]) == 0
    assert Trace.load(file).facts["interventions"] == [
        *("ablate cross.1.2", "ablate cross.0.1 mean", "keep encoder.0.1"),
        *("close cross.1.0 0 1", "row cross.0.0 0 1,1"),
    ]
    opened = ["--unmask", "decoder.*.* 0 1"]
    assert main(["trace", tiny, "1 2", "--target", "2 1", *opened]) == 0
    table = capsys.readouterr().out.split("\n\n")[-1].splitlines()
    results = [line.split(maxsplit=3)[3] for line in table[1:]]
    assert results == [*["ok"] * 3, "cached ≠ full: expected, a later position was unmasked", "ok"]
    assert main(["trace", tiny, "1 2", "--ablate", "cross.1.9"]) == 2
    assert "cross.1.9" in capsys.readouterr().err


def test_old_names_of_interventions_still_work(tiny, tmp_path):
    file = tmp_path / "x.trace"
    given = ["--close", "cross.1.0 0 1", "--mask", "cross.1.0 1 1", "--row", "cross.0.0 0 1,1"]
    assert (
        main(["trace", tiny, "1 2", *given, "--open", "decoder.0.0 0 1", "--out", str(file)]) == 0
    )
    assert Trace.load(file).facts["interventions"] == [
        *("close cross.1.0 0 1", "close cross.1.0 1 1", "open decoder.0.0 0 1"),
        "row cross.0.0 0 1,1",
    ]


def test_layers_and_sites_are_chosen(tiny, tmp_path, capsys):
    file = tmp_path / "x.trace"
    assert (
        main(["trace", tiny, "1 2", "--layers", "1", "--sites", "cross", "--out", str(file)]) == 0
    )
    trace = Trace.load(file)
    assert (trace.sites, trace.layer_numbers("cross")) == (("cross",), (1,))
    assert main(["trace", tiny, "1 2", "--layers", "0-1", "--out", str(file)]) == 0
    assert Trace.load(file).facts.get("model_layers") is None
    assert main(["trace", tiny, "1 2", "--layers", "fit", "--out", str(file)]) == 0
    for wrong in (["--layers", "0,7"], ["--sites", "cross,self"]):
        assert main(["trace", tiny, "1 2", *wrong]) == 2
    error = capsys.readouterr().err
    assert "layer 7" in error
    assert "“self”" in error
    for wrong in ("some", "-", "3-1", "1-x", f"0-{10**12}", "9" * 5000):
        with pytest.raises(SystemExit):
            main(["trace", tiny, "1 2", "--layers", wrong])
        *_, last = capsys.readouterr().err.splitlines()
        assert "argument --layers: write numbers up to 9999, like 0-3,8, or fit" in last
        assert len(last) < 200


def test_more_attention_than_a_trace_may_have_is_refused(tiny, capsys, monkeypatch):
    monkeypatch.setattr(trace_size, "largest_trace", lambda: 3000)
    assert main(["trace", tiny, "1 2 3"]) == 2
    assert "--layers" in capsys.readouterr().err


def test_a_text_is_read_and_written_in_the_languages_that_are_named(tiny, tmp_path, capsys):
    model, file = str(m2m100(tmp_path / "m2m100")), tmp_path / "x.trace"
    named = ["--source-language", "fr", "--target-language", "de", "--max-new-tokens", "3"]
    assert main(["trace", model, "the cat", *named, "--out", str(file)]) == 0
    trace = Trace.load(file)
    assert trace.source_tokens[0] == "__fr__"
    assert trace.predicted_tokens[0] == "__de__"
    assert main(["trace", model, "the cat", "--target-language", "German"]) == 2
    assert "such as de." in capsys.readouterr().err
    assert main(["trace", tiny, "1 2", "--source-language", "fr"]) == 2
    assert "no choice of languages" in capsys.readouterr().err


def test_a_chat_is_what_the_template_of_the_model_makes_of_it(tiny, tmp_path, capsys):
    path, file = gpt2(tmp_path / "gpt2"), tmp_path / "x.trace"
    template = "{% for one in messages %}({{ one.role }}) {{ one.content }} {% endfor %}"
    (path / "chat_template.jinja").write_text(template, encoding="utf-8")
    told = ["--chat", "--system", "Be kind.", "--max-new-tokens", "1"]
    assert main(["trace", str(path), "the cat", *told, "--out", str(file)]) == 0
    assert Trace.load(file).facts["text"] == "(system) Be kind. (user) the cat "
    assert main(["trace", str(path), "the cat", "--system", "Be kind."]) == 2
    assert "--system applies only with --chat" in capsys.readouterr().err
    assert main(["trace", str(path), "the cat", "--chat", "--pair", "a dog"]) == 2
    assert "either a text" in capsys.readouterr().err
    assert main(["trace", tiny, "1 2", "--chat"]) == 2
    assert "no chat template" in capsys.readouterr().err


def test_a_map_of_one_head_is_a_table_with_empty_cells_where_it_is_masked(tiny, tmp_path):
    file, place = tmp_path / "x.csv", ["--site", "decoder", "--layer", "0", "--head", "2"]
    given = ["trace", tiny, "1 2", "--target", "2 1", "--out", str(file)]
    assert main([*given, *place]) == 0
    found = pd.read_csv(file, index_col="query")
    trace = explorer.load(tiny).trace("1 2", target="2 1")
    own, mask = trace.table("decoder", 0, 2), trace.mask("decoder")
    assert found.index.to_list() == own.index.to_list()
    assert found.columns.to_list() == own.columns.to_list()
    np.testing.assert_allclose(found, np.where(mask, own, np.nan), rtol=1e-6)
    assert (~mask).sum() == found.isna().sum().sum() == 3
    assert main([*given, "--site", "cross", "--head", "1"]) == 0
    several = pd.read_csv(file)
    assert set(several["head"]) == {1}
    weights = trace.attention("cross")
    assert len(several) == weights[:, 1].size
    expected = [weights[one.layer, 1, one.query, one.key] for one in several.itertuples()]
    np.testing.assert_allclose(several.weight, expected, rtol=1e-6)


def test_a_map_is_a_page_with_its_figure_or_an_image(tiny, tmp_path, capsys, monkeypatch):
    page, image = tmp_path / "x.html", tmp_path / "x.svg"
    assert main(["trace", tiny, "1 2", "--out", str(page), "--layer", "1"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "cross attention of tiny" in text
    assert "plotly.js" in text
    monkeypatch.setattr(TableFigure, "to_image", lambda self, kind: f"{kind} of L1".encode())
    assert main(["trace", tiny, "1 2", "--out", str(image), "--layer", "1"]) == 0
    assert image.read_text() == "svg of L1"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--head", "1"], "--head applies only with --out"),
        (["--site", "cross", "--out", "x.trace"], "--site applies only with --out"),
        (["--out", "x.jpg"], "“x.jpg” should end in .html"),
        (["--out", "x.csv", "--site", "memory"], "no “memory” attention; it has encoder, decoder"),
        (["--out", "x.csv", "--layer", "2", "--head", "0"], "no head cross.2.0"),
        (["--out", "x.pdf"], "kaleido (pip install kaleido) and the browser Chrome"),
    ],
)
def test_a_map_that_cannot_be_made_is_said(tiny, options, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("explorer.components.table_figure.find_spec", lambda _: None)
    assert main(["trace", tiny, "1 2", *options]) == 2
    assert said in capsys.readouterr().err
    assert not [*tmp_path.glob("x.*")]
