import re
from collections.abc import Sequence

import pytest

from explorer.core import folders
from explorer.core.trace import Trace
from explorer.heads.initial_head import initial_head, initial_step
from explorer.heads.reports.head_report import HeadReport
from explorer.model import examples
from explorer.model.catalog import shipped_models
from explorer.model.explorable import load
from tests.support.catalog_members import shipped

SHIPPED = folders.shipped_checkpoints()

MODEL, EARLY, ALMOST = "english-french", "english-french-early", "reverse-almost"


def test_english_french_opens_with_the_black_cat():
    texts = examples.for_model(MODEL)
    assert texts[0] == "The black cat is sleeping on the red chair."
    assert shipped(MODEL, most_tokens=257, trained_tokens=128).examples == texts


def test_the_first_model_opens_with_a_text_at_which_it_hesitates_where_a_person_would():
    """Of the steps below 95 %, the second candidate is a neighbour of the right one in the text."""
    assert next(iter(shipped_models())) == ALMOST
    model = load(SHIPPED / f"{ALMOST}.safetensors")
    source = examples.for_model(ALMOST)[0].split()
    trace = model.trace(" ".join(source))
    assert trace.predicted_tokens == (*reversed(source), "<eos>")
    steps = trace.steps()
    unsure = set(steps.step[steps.chosen & (steps.probability < 0.95)])
    seconds = steps[(steps["rank"] == 2) & steps.step.isin(unsure)]
    right = [len(source) - step for step in seconds.step]
    assert right
    for place, token in zip(right, seconds.token, strict=True):
        assert token in source[max(place - 1, 0) : place + 2]


@pytest.mark.parametrize("model", [MODEL, EARLY, "chinese-english", "english"])
def test_a_model_of_sentences_has_texts_each_with_a_hint_in_both_languages(model):
    texts = examples.for_model(model)
    assert len(texts) >= 8
    for text in texts:
        english, chinese = (examples.hint(model, text, language) for language in ("en", "zh"))
        assert english != chinese
        assert 30 < len(english) < 130  # two lines of the header on a small screen
        assert 10 < len(chinese) < 60


@pytest.mark.parametrize(
    ("model", "text"),
    [(MODEL, "Something else."), ("reverse", "7 3 9"), ("../errors", "x"), ("no-model", "")],
)
def test_any_other_text_has_no_hint(model, text):
    assert examples.hint(model, text, "en") == ""


def test_a_toy_model_has_texts_also_of_an_unknown_task():
    assert examples.for_task("sort")[0] == "7 3 9 1 4"
    assert examples.for_task("rotate")


def test_a_model_without_a_file_has_no_sentences():
    assert examples.for_model("reverse") == ()
    assert examples.for_model("errors") == ()


OF_THEIR_OWN = [path.stem for path in sorted(SHIPPED.glob("*.safetensors"))]
OF_THEIR_OWN = [name for name in OF_THEIR_OWN if examples.for_model(name)]


@pytest.fixture(scope="module", params=OF_THEIR_OWN)
def traces(request) -> tuple[str, dict[str, Trace]]:
    """A model that ships with texts of its own, and a trace of each."""
    model = load(SHIPPED / f"{request.param}.safetensors")
    return request.param, {text: model.trace(text) for text in examples.for_model(request.param)}


def spelled(labels: Sequence[str]) -> set[str]:
    """The texts that one label or several after each other spell."""
    joined = (
        "".join(labels[start:stop])
        for start in range(len(labels))
        for stop in range(start + 1, len(labels) + 1)
    )
    return {text.replace("▁", " ").strip() for text in joined}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_hint_quotes_are_tokens_of_the_trace_or_candidates(traces, language):
    """To replace a model, take out or write anew the sentences that this names."""
    name, all_traces = traces
    wrong = []
    for text, trace in all_traces.items():
        quoted = set(re.findall(r"“([^”]+)”", examples.hint(name, text, language)))
        assert quoted, text
        candidates = {token.removeprefix("▁") for token in trace.steps().token}
        known = spelled(trace.source_tokens) | spelled(trace.predicted_tokens) | candidates
        if missing := quoted - known:
            wrong.append(
                f"{text}: no {missing} in {trace.source_tokens} → {trace.predicted_tokens}"
            )
    assert not wrong, "\n".join(wrong)


def test_the_first_sentence_crosses_where_it_opens(traces):
    """At the step that a model opens with, its cross head looks back in the source, sharply, at a
    token that the hint quotes."""
    name, all_traces = traces
    text, trace = next(iter(all_traces.items()))
    if "cross" not in trace.sites:
        pytest.skip("a decoder alone has no source")
    report = HeadReport.load(SHIPPED / "heads" / f"{name}.json")
    head = initial_head(trace, report)
    step = initial_step(trace, *head)
    weights = trace.attention("cross")[head.layer, head.head, :step]
    keys = weights.argmax(-1)
    assert keys[-1] < keys[-2]
    assert weights[-1].max() > 0.6
    quoted = " ".join(re.findall(r"“([^”]+)”", examples.hint(name, text, "en")))
    shown = {trace.source_tokens[keys[-1]], trace.predicted_tokens[step - 1]}
    assert any(token.removeprefix("▁") in quoted for token in shown)


def test_the_omitted_word_is_among_the_candidates():
    model = load(SHIPPED / f"{EARLY}.safetensors")
    text = examples.for_model(EARLY)[0]
    steps = model.trace(text).steps()
    after_chair = steps.step[(steps.token == "▁chaise") & steps.chosen].item() + 1
    red = steps[(steps.step == after_chair) & (steps.token == "▁rouge")].iloc[0]
    assert red["rank"] <= 3
    chosen = model.trace(text, force={after_chair: int(red["id"])})
    assert chosen.text == "Le chat noir dort sur la chaise rouge."


@pytest.mark.parametrize(
    ("text", "right"),
    [("猫在桌子上。", "The cat is on the table."), ("他不喝咖啡。", "He doesn't drink coffee.")],
)
def test_chinese_is_translated(text, right):
    assert load(SHIPPED / "chinese-english.safetensors").trace(text).text == right
