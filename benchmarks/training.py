"""Time until a Transformer has learnt to reverse, against two ordinary ways to train it.

    python -m benchmarks.training [--device cpu|cuda] [--seeds 5] [--threads 2] [--goal 0.99]

CPU: sequences of 1 to 10 of 20 symbols; seconds until the exact match on 512 unseen sequences
reaches the goal, evaluations included, median over the seeds, the ways in turn.

    ours       quick_demo("reverse"): width 64, pre-norm, warm-up and cosine, fused attention
    textbook   width 128, post-norm, dropout 0.1, rate 1e-3 constant after 100 steps of warm-up,
               explicit attention, plain Adam, batch 64

GPU: sequences of 1 to 16 of 20 symbols, 2+2 layers, width 128, 4 heads, batch 256; besides the
above, milliseconds a step (median of blocks of 20 steps, after 40) of

    ours       the whole step in one CUDA graph, bfloat16
    textbook   the same sizes, explicit attention, plain Adam, float32, one operation at a time
    torch      nn.Transformer of the same sizes, plain Adam, float32
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from explorer.core.vocabulary import PAD
from explorer.data.batch import Batch
from explorer.data.toy_data import find_task
from explorer.model.transformer import Attention, Transformer
from explorer.training.config import TrainingConfig, quick_demo
from explorer.training.data_modules import ToyDataModule
from explorer.training.trainer import Trainer

MOST_STEPS = 3000


def ours(config: TrainingConfig, goal: float) -> tuple[float, int]:
    """Seconds and steps to the goal; building the model and recording the graph count."""
    start = time.perf_counter()
    trainer = Trainer(replace(config, until=goal))
    for _ in trainer.run():
        pass
    assert trainer.moment is not None
    reached = trainer.moment.score >= goal
    return (time.perf_counter() - start if reached else float("inf")), trainer.step


def textbook_model(config: TrainingConfig) -> Transformer:
    """The same architecture, with explicit attention in place of the fused one."""
    model = Transformer(config.model_config())
    for module in model.modules():
        if isinstance(module, Attention):
            module._mix_fused = module._mix_explicitly  # type: ignore[method-assign]
    return model


class Torch(nn.Module):
    """torch.nn.Transformer with our embeddings."""

    def __init__(self, config: TrainingConfig) -> None:
        super().__init__()
        ours = Transformer(config.model_config())
        assert ours.encoder is not None  # it compares tasks with a source
        self.source, self.target = ours.encoder.embedding, ours.decoder.embedding
        self.body = nn.Transformer(
            config.d_model,
            config.heads,
            config.encoder_layers,
            config.decoder_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
            norm_first=config.norm == "pre",
        )
        self.logits = ours.logits

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        size = target.size(1)
        later = torch.ones(size, size, dtype=torch.bool, device=target.device).triu(1)
        hidden = self.body(
            self.source(source),
            self.target(target),
            tgt_mask=later,
            src_key_padding_mask=source == PAD,
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=source == PAD,
        )
        return self.logits(hidden)


def plain_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch) -> None:
    """One optimizer step, clipped, without label smoothing."""
    logits = model(batch.source, batch.target[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), batch.target[:, 1:].flatten(), ignore_index=PAD)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def next_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, draw: Callable[[], Batch]
) -> None:
    """`plain_step` on the next batch."""
    plain_step(model, optimizer, draw())


def textbook(config: TrainingConfig, goal: float) -> tuple[float, int]:
    """Seconds and steps to the goal with a constant rate and plain Adam."""
    start = time.perf_counter()
    torch.manual_seed(config.seed)
    model = textbook_model(config).to(config.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config.rate, betas=(0.9, 0.98), eps=1e-9)
    draw = batches(config)
    data = ToyDataModule(config, torch.device(config.device))
    for step in range(1, MOST_STEPS + 1):
        model.train()
        optimizer.param_groups[0]["lr"] = config.rate * min(1.0, step / 100)
        plain_step(model, optimizer, draw())
        if step % config.evaluate_every == 0:
            model.eval()
            if data.measure(model)["exact_match"] >= goal:
                return time.perf_counter() - start, step
    return float("inf"), MOST_STEPS


def batches(config: TrainingConfig) -> Callable[[], Batch]:
    """A function that draws the next random batch."""
    task, random = find_task(config.task), torch.Generator().manual_seed(config.seed)
    symbols = len(config.symbols)
    return lambda: task.batch(config.batch, config.longest, symbols, random, device=config.device)


def gpu_milliseconds(step: Callable[[], object], blocks: int = 20) -> float:
    """Median time of a step on the GPU, over blocks of 20, after 40 warm-up steps."""
    for _ in range(40):
        step()
    times = []
    for _ in range(blocks):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(20):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1000 / 20)
    return statistics.median(times)


def steps_on_gpu(config: TrainingConfig) -> None:
    """Print milliseconds a step of the three ways."""
    trainer = iter(Trainer(replace(config, until=1.0, steps=10**6, evaluate_every=10**6)).run())
    figures = {"ours": gpu_milliseconds(lambda: next(trainer))}
    plain = replace(config, precision="float32")
    for name, model in (("textbook", textbook_model(plain)), ("torch", Torch(plain))):
        model = model.to(config.device).train()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
        figures[name] = gpu_milliseconds(partial(next_step, model, optimizer, batches(plain)))
    for name, figure in figures.items():
        print(f"{name:10} {figure:7.3f} ms a step  {figure / figures['ours']:5.2f} × ours")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every way with every seed and print it beside ours."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--goal", type=float, default=0.99, help="exact match, 0 to 1")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    demo = quick_demo("reverse", on_gpu=options.device == "cuda")
    book = replace(
        demo,
        d_model=128,
        d_ff=512,
        norm="post",
        dropout=0.1,
        rate=1e-3,
        batch=64 if options.device == "cpu" else demo.batch,
        precision="float32",
    )
    if options.device == "cuda":
        steps_on_gpu(demo)
    times: dict[str, list[float]] = {"ours": [], "textbook": []}
    for seed in range(options.seeds):
        for name, run, config in (("ours", ours, demo), ("textbook", textbook, book)):
            seconds, steps = run(replace(config, seed=seed), options.goal)
            times[name].append(seconds)
            print(f"seed {seed}  {name:10} {seconds:6.1f} s  {steps} steps", flush=True)
    medians = {name: statistics.median(own) for name, own in times.items()}
    for name, median in medians.items():
        ratio = median / medians["ours"]
        print(f"{name:10} {median:6.2f} s to {100 * options.goal:.0f} %  {ratio:5.2f} × ours")


if __name__ == "__main__":
    main()
