"""Names of models, costs of a training, and evaluation batches, for pages and commands."""

import math
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from explorer.core.i18n import say, section
from explorer.heads.metrics import batch_names
from explorer.model.catalog import UploadedTrace
from explorer.model.listed_model import ListedModel, ModelSummary
from explorer.training.cost_estimate import Estimate

_Fact: TypeAlias = tuple[str, dict[str, str]]
"""Name of a sentence "explore.facts_…", and what is filled in."""

_SENTENCES = re.compile(r"Sentences from (?P<corpus>[^(]+?) \(.*?(?P<licence>CC [A-Z-]+ [^;]+)")
"""Pattern of the credits of the models that ship."""


def describe(member: ListedModel | UploadedTrace, language: str) -> str:
    """A line of the list of models: "reverse · 99.8 % right", or of one that a person trained or
    brought "mine · 2+2 layers · 4 heads": of others it is said what they do."""
    if not member.can_trace:
        return say("explore.facts_trace", language, name=member.name)
    summary = member.summary
    sizes = _sizes(summary) if member.origin or not member.is_own else ()
    facts = [*sizes, *_scores(summary)]
    if member.origin:
        facts.append((member.origin, {}))
    family = [summary.family] if summary.family else []
    return " · ".join([member.label, *family, *_said(facts, language)])


def _said(facts: Iterable[_Fact], language: str) -> list[str]:
    return [say(f"explore.facts_{name}", language, **values) for name, values in facts]


def _sizes(summary: ModelSummary) -> Iterator[_Fact]:
    """Layers and heads, as far as known."""
    layers = "+".join(str(one) for one in (summary.encoder_layers, summary.decoder_layers) if one)
    heads = "+".join(str(one) for one in (summary.heads, summary.decoder_heads) if one)
    if layers and heads:
        yield "sizes", {"layers": layers, "heads": heads}


def _scores(summary: ModelSummary) -> Iterator[_Fact]:
    if summary.exact_match is not None:
        yield "exact", {"percent": f"{100 * summary.exact_match:.1f}"}
    if summary.bleu is not None:
        yield "bleu", {"score": f"{summary.bleu:.1f}"}
    if summary.word_perplexity is not None:
        yield "perplexity", {"score": f"{summary.word_perplexity:.0f}"}


def purpose(model: ListedModel, language: str) -> str:
    """The task of the model, by its name, its task or its input; "" for a library model, whose
    files do not say what it was trained for."""
    if not model.is_own:
        return ""
    reads = "sentences" if model.summary.reads_sentences else "symbols"
    kinds = (model.name, model.summary.task, reads)
    known = section("purpose", language)
    kind = next(kind for kind in kinds if kind in known)
    return say(f"purpose.{kind}", language, name=model.name)


def source_of_scores(summary: ModelSummary, language: str) -> str:
    """The data BLEU was measured on, and the data the model learned from; "" if the file does not
    name them."""
    about = ""
    if summary.bleu is not None and summary.test_sources is not None:
        score = f"{summary.bleu:.1f}"
        about = say("explore.bleu_on", language, score=score, count=summary.test_sources)
    return " ".join(filter(None, (about, summary.credit)))


def short_credit(credit: str, language: str) -> str:
    """The corpus and its licence, in the language of the page. A credit of another form stays as in
    the file. The hover text has the full credit."""
    found = _SENTENCES.match(credit)
    if found is None:
        return credit
    return say("explore.credit", language, **found.groupdict())


def source_hint(model: ListedModel, language: str) -> str:
    """Hint for an empty box: the kind of text to type."""
    known = " ".join(model.summary.symbols)
    return say(f"explore.{model.kind}_hint", language, mask=model.mask, known=known)


def estimate_text(found: Estimate, device: str, language: str) -> str:
    """The estimate as a line: "0.2 M parameters · 0.5 GB · about 20 s on this CPU"."""
    kind = "cpu" if device.startswith("cpu") else "gpu"
    text = say(
        "train.estimate",
        language,
        parameters=short_count(found.parameters),
        memory=f"{max(found.memory / 1024, 0.1):.1f}",
        time=short_time(found.seconds, language),
        where=say(f"train.{'this' if found.measured else 'idle'}_{kind}", language),
    )
    if found.epochs is None:
        return text
    count = f"{found.epochs:,.0f}" if found.epochs >= 2 else f"{found.epochs:.1f}"
    return f"{text} · {say('train.estimate_epochs', language, count=count)}"


def short_count(count: int) -> str:
    """ "0.2 M"."""
    return f"{count / 1e6:.1f} M" if count >= 50_000 else f"{count / 1e3:.0f} k"


def short_time(seconds: float, language: str) -> str:
    """Seconds, minutes or hours, rounded as for an estimate; "?" for infinity."""
    if not math.isfinite(seconds):
        return "?"
    if seconds < 90:
        count = round(seconds) if seconds < 20 else 5 * round(seconds / 5)
        return say("train.seconds", language, count=max(1, count))
    if seconds < 90 * 60:
        return say("train.minutes", language, count=round(seconds / 60))
    return say("train.hours", language, count=f"{seconds / 3600:.1f}")


def batch_name(stored: str, language: str) -> str:
    """The name of an evaluation batch, as `heads.metrics.batch_names` writes it. The name of a file
    stays."""
    kind, facts = batch_names.read(stored)
    if not kind:
        return stored
    if "name" in facts:
        facts["name"] = batch_name(facts["name"], language)
    return say(f"heads.batch_{kind}", language, **facts)
