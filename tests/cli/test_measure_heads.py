import pytest

from explorer.__main__ import main
from explorer.core.errors import RemovedError
from explorer.core.i18n import say
from explorer.heads.reports.head_report import HeadReport
from explorer.model.checkpoint import save_checkpoint
from tests.support.model_directories import bert
from tests.support.multilingual_directories import m2m100


@pytest.fixture
def tiny(explorable, tmp_path):
    """The path of a checkpoint of the `explorable` model."""
    save_checkpoint(explorable.checkpoint, tmp_path / "tiny.safetensors")
    return str(tmp_path / "tiny.safetensors")


def test_a_report_is_printed_or_written(tiny, tmp_path, capsys):
    assert main(["measure", tiny, "--sentences", "12"]) == 0
    printed = capsys.readouterr().out
    assert "reverse, held out" in printed
    assert "normalised_entropy" in printed
    assert "no clear role" in printed
    assert "confidence_low" not in printed
    out = tmp_path / "x.json"
    wanted = ["--importance", "--ablation", "--removed-on", "4", "--out", str(out)]
    assert main(["measure", tiny, "--sentences", "12", *wanted]) == 0
    report = HeadReport.load(out)
    assert {"importance", "zero_loss", "only_exact"} <= set(report.metrics)
    assert main(["measure", tiny, "--sentences", "4", "--out", str(tmp_path / "x.csv")]) == 0
    assert (tmp_path / "x.csv").read_text().startswith("site,layer,head,role,confidence,")


def test_the_old_name_of_the_command_still_works(tiny, tmp_path):
    for name in ("measure", "heads"):
        out = str(tmp_path / f"{name}.json")
        assert main([name, tiny, "--sentences", "4", "--ablation", "--out", out]) == 0
    one, other = (tmp_path / f"{name}.json" for name in ("measure", "heads"))
    assert one.read_bytes() == other.read_bytes()


def test_progress_is_written_to_a_file(tiny, tmp_path):
    progress = tmp_path / "progress"
    assert main(["measure", tiny, "--sentences", "4", "--progress", str(progress)]) == 0
    assert progress.read_text() == "1.000"


def test_pairs_and_lines_are_evaluation_batches(tiny, tmp_path, capsys):
    (tmp_path / "pairs.tsv").write_text("1 2\t2 1\n\n3\t3\tsomebody\n2 2\t2\n", encoding="utf-8")
    (tmp_path / "lines.txt").write_text("1 2\n\n甲 3\n", encoding="utf-8")
    assert main(["measure", tiny, "--pairs", str(tmp_path / "pairs.tsv"), "--sentences", "2"]) == 0
    assert f"pairs.tsv (2): {say('roles.targets_given')}" in capsys.readouterr().out
    assert main(["measure", tiny, "--texts", str(tmp_path / "lines.txt")]) == 0
    assert "lines.txt (2): teacher-forced on the model's own" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--sentences 0", "at least one"),
        ("--sentences -3", "at least one"),
        ("--texts nowhere.txt", "cannot be read"),
        ("--out x.png", ".json"),
        ("--seed 99999999999999999999", "--seed is 99999999999999999999; expected"),
        ("--progress nowhere/p", "no folder"),
        ("--texts a.txt --pairs b.tsv", "give one of them"),
        ("--ablation --removed-on 0", "--removed-on is 0"),
        ("--gold-columns 1,2,3", "--gold-columns applies only with --gold"),
    ],
)
def test_errors_are_one_sentence(tiny, options, message, capsys):
    assert main(["measure", tiny, *options.split()]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error


def test_bleu_without_each_head_is_answered_by_a_sentence(tiny, capsys):
    assert main(["measure", tiny, "--ablation", "--bleu"]) == 2
    assert capsys.readouterr().err == f"error: {RemovedError('bleu_by_head')}\n"


def test_a_file_that_is_read_is_not_overwritten(tiny, tmp_path, capsys):
    texts = tmp_path / "x.csv"
    texts.write_text("1 2\n", "utf-8")
    assert main(["measure", tiny, "--texts", str(texts), "--out", str(texts)]) == 2
    assert "“x.csv” is read by this command" in capsys.readouterr().err
    assert texts.read_text("utf-8") == "1 2\n"
    assert main(["measure", tiny, "--out", str(tmp_path / "none" / "x.csv")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_heads_are_measured_in_the_languages_that_are_named(tiny, tmp_path, capsys):
    model, lines = str(m2m100(tmp_path / "m2m100")), tmp_path / "lines.txt"
    lines.write_text("the cat\na dog\n", encoding="utf-8")
    out = tmp_path / "x.json"
    named = ["--source-language", "fr", "--target-language", "de"]
    assert main(["measure", model, "--texts", str(lines), *named, "--out", str(out)]) == 0
    facts = HeadReport.load(out).facts
    assert (facts["source_language"], facts["target_language"]) == ("fr", "de")
    assert main(["measure", tiny, "--target-language", "de"]) == 2
    assert "no choice of languages" in capsys.readouterr().err


def test_heads_of_a_classifier_are_measured_by_a_file_of_labelled_texts(tiny, tmp_path, capsys):
    names = {0: "no", 1: "yes"}
    head = "BertForSequenceClassification"
    model = str(bert(tmp_path / "bert", head=head, id2label=names, type_vocab_size=2))
    given, out = tmp_path / "given.tsv", tmp_path / "x.json"
    given.write_text("the cat\tyes\n\na dog\t0\nthe cat\tyes\na\tb\tno\n", encoding="utf-8")
    named = ["--labels", str(given), "--importance", "--out", str(out)]
    assert main(["measure", model, *named]) == 0
    facts = HeadReport.load(out).facts
    assert (facts["targets"], facts["sentences"]) == ("labels", 3)
    assert facts["batch"] == "given.tsv, 1 repeated left out"
    for text, said in [("the cat\n", "no labelled text"), ("the cat\tmaybe\n", "no, yes")]:
        given.write_text(text, encoding="utf-8")
        assert main(["measure", model, "--labels", str(given)]) == 2
        assert said in capsys.readouterr().err
    assert main(["measure", tiny, "--labels", str(given)]) == 2
    assert "without labels" in capsys.readouterr().err
    assert main(["measure", tiny, "--labels", str(given), "--texts", str(given)]) == 2
    assert "give one of them" in capsys.readouterr().err
