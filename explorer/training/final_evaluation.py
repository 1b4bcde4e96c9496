"""What a checkpoint says about how well it does: judged once, on data it never saw."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from explorer.core.errors import PairsError
from explorer.data.parallel_corpus import Pairs, read_pairs, references
from explorer.data.toy_data import find_task
from explorer.model.checkpoint import Checkpoint
from explorer.training.config import TrainingConfig
from explorer.training.toy_evaluation import evaluate
from explorer.training.translation_data import fitting, score, translate

JOINED = 100
"""Texts of three held-out sentences each, to see whether longer input holds."""

_IN_ONE = 3
_MOST_KNOWN = 4


@dataclass(frozen=True, slots=True)
class Examination:
    """facts: JSON values for the checkpoint; sentence: the same for a person."""

    facts: dict[str, Any]
    sentence: str


def examine(checkpoint: Checkpoint, config: TrainingConfig) -> Examination:
    """Judge a model on what its training held out. Raises `PairsError`."""
    if config.pairs:
        return examine_pairs(checkpoint, read_pairs(config.pairs, config.columns))
    return _examine_task(checkpoint, config)


def _examine_task(checkpoint: Checkpoint, config: TrainingConfig) -> Examination:
    task = find_task(config.task)
    evaluation = evaluate(checkpoint.model, task, len(config.symbols), config.longest)
    layer, head = evaluation.best_head
    by_length = evaluation.exact_match_by_length
    facts = {
        "exact_match": round(evaluation.exact_match, 5),
        "exact_match_by_length": {str(size): round(share, 5) for size, share in by_length.items()},
        "gold_weight": evaluation.gold.round(4).tolist(),
    }
    sentence = (
        f"exact match {evaluation.exact_match:.2%} on held-out sequences of 1 to "
        f"{config.longest} symbols, 300 each; best cross head L{layer} H{head}, "
        f"gold weight {evaluation.gold.max():.3f}"
    )
    return Examination(facts, sentence)


def examine_pairs(checkpoint: Checkpoint, pairs: Pairs) -> Examination:
    """BLEU and chrF on the distinct sources of the test part, all references, greedy; and on
    texts that join three of them, beside the same sentences translated one by one.

    Raises `PairsError` when all of it is too long for the model.
    """
    test = pairs.part("test")
    vocabularies = checkpoint.source_vocabulary, checkpoint.target_vocabulary
    room = checkpoint.model.config.max_length - 1  # the end of the sequence takes one
    known = fitting(test, vocabularies, room)
    held = references(known)
    if not held:
        raise PairsError("nothing_to_judge_by", longest=room)
    written = dict(zip(held, _written(checkpoint, list(held)), strict=True))
    alone = score(list(written.values()), list(held.values()))
    short = references(fitting(known, vocabularies, room // _IN_ONE))
    groups = _groups(list(short or held))
    right = [_joined_references([held[source] for source in group]) for group in groups]
    joined = score(_written(checkpoint, [" ".join(group) for group in groups]), right)
    apart = score([" ".join(written[source] for source in group) for group in groups], right)
    facts = {
        "bleu": round(alone.bleu, 2),
        "chrf": round(alone.chrf, 2),
        "bleu_signature": alone.bleu_signature,
        "chrf_signature": alone.chrf_signature,
        "test_sources": len(held),
        "test_overlong": len(test) - len(known),
        "joined_bleu": round(joined.bleu, 2),
        "joined_bleu_one_by_one": round(apart.bleu, 2),
        "joined_length_ratio": round(joined.length_ratio, 3),
    }
    sentence = (
        f"BLEU {alone.bleu:.2f} ({alone.bleu_signature}), chrF {alone.chrf:.2f} "
        f"({alone.chrf_signature}) on {len(held)} held-out sources, all references, greedy; "
        f"{JOINED} texts of {_IN_ONE} of them: BLEU {joined.bleu:.2f}, one by one "
        f"{apart.bleu:.2f}, length ratio {joined.length_ratio:.3f}"
    )
    return Examination(facts, sentence)


def _groups(sources: list[str]) -> list[list[str]]:
    random = np.random.default_rng(0)
    size = min(_IN_ONE, len(sources))
    places = [random.choice(len(sources), size, replace=False) for _ in range(JOINED)]
    return [[sources[place] for place in group] for group in places]


def _joined_references(each: list[list[str]]) -> list[str]:
    """The ways to follow a translation of one sentence by one of the next, from the first few
    of each."""
    return [" ".join(chosen) for chosen in product(*(known[:_MOST_KNOWN] for known in each))]


def _written(checkpoint: Checkpoint, texts: list[str]) -> list[str]:
    source, target = checkpoint.source_vocabulary, checkpoint.target_vocabulary
    return translate(checkpoint.model, source, target, texts)
