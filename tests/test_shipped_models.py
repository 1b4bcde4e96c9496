"""The toy models that ship are right where a class types: few symbols, one kind, repeats. What
`checkpoints/README.md` and `recipes.sh` say of the models is what their files hold."""

import json
import shlex
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch

from explorer.cli.train_options import chosen_settings
from explorer.core import folders
from explorer.data.continued_data import find_continued_task
from explorer.data.task_names import RULE_TASKS
from explorer.data.toy_data import find_task
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.search.attention_index import STEPS, open_index
from explorer.heads.search.index_building import Corpus, attention_index
from explorer.heads.search.stored_indexes import stored_indexes
from explorer.model.checkpoint import load_checkpoint
from explorer.model.explorable import ExplorableModel, load
from explorer.training.continued_evaluation import evaluate_continued
from explorer.training.toy_evaluation import exact_match_by_length, typed_alphabets
from tests.support.documented_commands import commands, parsed

NAMES = sorted(path.stem for path in folders.shipped_checkpoints().glob("*.safetensors"))
TRANSLATORS = ("english-french", "english-french-early", "chinese-english")
REVERSE = ("reverse", "reverse-almost", "reverse-early")


def read(name: str) -> str:
    return (folders.shipped_checkpoints() / name).read_text("utf-8")


def facts_of(name: str) -> dict[str, Any]:
    return load_checkpoint(folders.shipped_checkpoints() / f"{name}.safetensors").facts


def cells(first: str) -> list[str]:
    """The further cells of the row of `checkpoints/README.md` whose first cell this is."""
    (row,) = (line for line in read("README.md").splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in row.strip("|").split("|")[1:]]


@pytest.mark.parametrize("name", [*RULE_TASKS, *REVERSE[1:]])
def test_the_documented_figures_of_a_toy_model_are_its_facts(name):
    facts = facts_of(name)
    lengths = facts["exact_match_by_length"]
    length = min(lengths, key=lengths.__getitem__)
    gold = np.array(facts["gold_weight"])
    layer, head = np.unravel_index(gold.argmax(), gold.shape)
    steps, exact, worst, best, weight = cells(f"`{name}`")
    assert (steps, exact) == (f"{facts['steps']}", f"{100 * facts['exact_match']:.2f} %")
    where = f" at {length}" if lengths[length] < 1 else ""
    assert worst == f"{100 * lengths[length]:.1f} %{where}"
    assert (best, float(weight)) == (f"L{layer} H{head}", pytest.approx(gold.max(), abs=6e-4))


def test_the_documented_figures_of_the_translators_are_their_facts():
    facts = [facts_of(name) for name in TRANSLATORS]
    both = cells("BLEU, chrF (greedy, all references)")
    assert both == [f"{one['bleu']:.2f}, {one['chrf']:.2f}" for one in facts]
    assert cells("held-out sources") == [f"{one['test_sources']:,}" for one in facts]
    kept = [f"{one['pairs']['kept']:,} of {one['pairs']['rows']:,}" for one in facts]
    assert cells("pairs kept of those in the file") == kept
    joined = [[one[f"joined_{name}"] for name in ("bleu", "bleu_one_by_one")] for one in facts]
    ratios = [one["joined_length_ratio"] for one in facts]
    three = cells("texts of three sentences: BLEU; one by one; length ratio")
    assert [[float(part) for part in one.split(";")] for one in three] == [
        [*scores, ratio] for scores, ratio in zip(joined, ratios, strict=True)
    ]


def test_the_documented_figures_of_the_decoders_are_their_facts():
    text, english, induction = read("README.md"), facts_of("english"), facts_of("induction")
    for name in ("word_perplexity", "perplexity"):
        assert f"{english[name]:.1f} a " in text
    assert f"{100 * english['accuracy']:.1f} %" in text
    assert f" {induction['known_loss']}, " in text
    assert f" {induction['new_loss']:.2f}. " in text


@pytest.mark.parametrize("name", NAMES)
def test_the_recipes_have_the_command_that_a_file_was_made_by(name):
    words = shlex.split(facts_of(name)["command"])[3:]
    if name == "english-french-early":  # written under other names
        words[words.index("--run") + 1] = f"runs/{name}"
        words[words.index("--out") + 1] = f"checkpoints/{name}.safetensors"
    assert vars(parsed(words)) in [vars(parsed(one)) for one in commands(read("recipes.sh"))]


@pytest.mark.parametrize("name", sorted(path.name for path in folders.shipped_runs().iterdir()))
def test_the_recipes_have_the_settings_of_a_recorded_training(name):
    recipes = [one for one in commands(read("recipes.sh")) if f"runs/{name}" in one]
    (options,) = (parsed(one) for one in recipes)
    stored = json.loads(read(f"recorded/{name}/config.json"))["settings"]
    chosen = json.loads(json.dumps(asdict(chosen_settings(options))))
    assert {key: chosen[key] for key in stored} == stored  # younger settings at their defaults


def test_the_other_recipes_are_commands_of_today():
    made = [parsed(words) for words in commands(read("recipes.sh"))]
    assert len(made) > len(NAMES)


@pytest.fixture(scope="module", params=RULE_TASKS)
def model(request: pytest.FixtureRequest) -> ExplorableModel:
    return load(folders.shipped_checkpoints() / f"{request.param}.safetensors")


def test_the_facts_say_how_good_it_is_on_each_alphabet(model):
    shares = model.facts["exact_match_by_alphabet"]
    assert list(shares) == list(typed_alphabets(model.source_vocabulary.symbols))
    assert len(shares) == 5
    for halves in shares.values():
        assert list(halves) == ["1-8", "9-16"]
        assert min(halves.values()) >= 0.985


def test_a_sample_of_each_alphabet_is_decoded_as_the_facts_say(model):
    task = find_task(model.facts["task"])
    for name, alphabet in typed_alphabets(model.source_vocabulary.symbols).items():
        exact = exact_match_by_length(model.transformer, task, alphabet, (3, 7, 11, 15), each=20)
        assert np.mean(list(exact.values())) >= 0.95, name


@pytest.mark.parametrize("name", NAMES)
def test_what_was_measured_of_it_is_of_its_weights(name):
    digest = load(folders.shipped_checkpoints() / f"{name}.safetensors").digest
    path = folders.shipped_reports() / f"{name}.json"
    heads = HeadReport.load(path)
    assert heads.facts["digest"] == digest
    assert heads.to_json() == path.read_text("utf-8")  # no column of an earlier version


@pytest.mark.parametrize("name", NAMES)
def test_its_index_is_of_its_weights(name):
    digest = load(folders.shipped_checkpoints() / f"{name}.safetensors").digest
    path = folders.shipped_reports() / f"{name}.index"
    assert stored_indexes(digest)[-1].report.path == path
    assert 99 <= len(open_index(path)) <= 100  # two sequences of a task may be the same


@pytest.mark.parametrize("name", ["reverse-almost", "english-french"])
def test_its_index_answers_as_one_of_every_weight(name, tmp_path):
    """Other processors may round a weight to another step, and change places of two such."""
    model = load(folders.shipped_checkpoints() / f"{name}.safetensors")
    shipped = open_index(folders.shipped_reports() / f"{name}.index")
    texts = shipped.facts["sources"]
    if shipped.facts["forced"] is not None:
        texts = zip(texts, shipped.facts["targets"], strict=True)
    index = attention_index(model, Corpus.of(model, texts), tmp_path / "every.index")
    assert (shipped.least, index.least) == (0.1, 0.5 / STEPS)
    for head in index.heads:
        every, found = index.search(head, top=len(index)), shipped.search(head, top=3)
        assert found.weight.to_numpy() == pytest.approx(every.weight[:3], abs=1.5 / STEPS)
        weights = every.set_index("sentence").weight
        assert weights[found.sentence].to_numpy() == pytest.approx(found.weight, abs=1.5 / STEPS)


@pytest.mark.parametrize(
    "text", ["2 1", "3 3 2 1 1", "乙 甲 丁 丙 甲 乙", "1 1 1 1 1", "9 8 7 7 8 9"]
)
def test_it_is_right_on_what_a_class_types_first(model, text):
    answer = find_task(model.facts["task"]).answer(model.source_vocabulary.encode(text))
    assert model.trace(text).text == model.target_vocabulary.decode(answer)


@pytest.fixture(scope="module")
def induction() -> ExplorableModel:
    return load(folders.shipped_checkpoints() / "induction.safetensors")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("7 3 9 1 4 7", "3 9 1 4 7 3 9 1 4 7"),
        ("甲 乙 丙 丁 甲 乙", "丙 丁 甲 乙 丙 丁 甲 乙"),
        ("1 2 3 1", "2 3 1 2 3 1"),
        ("a 1 b 2 c 3 d 4 e 5 a", "1 b 2 c 3 d 4 e 5 a 1"),
    ],
)
def test_induction_repeats_what_a_class_types_first(induction, text, rest):
    assert induction.trace(text).text.startswith(rest)


def test_a_head_of_induction_looks_at_what_followed_before_and_only_that_can_be_known(induction):
    task, symbols = find_continued_task("induction"), induction.source_vocabulary.symbols
    batch = task.held_out_batch(200, 24, range(len(symbols)), torch.Generator().manual_seed(3))
    found = evaluate_continued(induction.transformer, task, batch)
    assert found.exact.float().mean() > 0.99
    assert found.known_loss < 0.05 * found.new_loss
    assert found.gold[1].min() > 0.9
    assert found.previous[0].max() > 0.5
    assert induction.facts["gold_weight"] == pytest.approx(found.gold, abs=0.02)


def test_english_continues_a_sentence_and_is_better_than_a_trigram():
    model = load(folders.shipped_checkpoints() / "english.safetensors")
    assert model.facts["word_perplexity"] < 0.65 * 65.1  # of the trigram
    assert model.trace("I would like to").text.startswith("go to")
    trace = model.trace("Tom wants to speak German, but he can't speak", draw=(0.8, 7))
    assert trace.integrity().ok.all()
    assert trace.sites == ("decoder",)
