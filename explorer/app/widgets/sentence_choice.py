"""Form fields for sentences of which some are offered first: the pairs that ship with a model, or
its examples."""

from dataclasses import dataclass, replace

from explorer.app.widgets.alignment_form import shipped_gold
from explorer.app.widgets.sentence_form import (
    MEASURED,
    Sizes,
    choose_kind,
    choose_size,
    chosen_kind,
    chosen_sentences,
    chosen_size,
    kinds_for,
    sentence_fields,
)
from explorer.jobs.measurement_jobs import Sentences
from explorer.model.catalog import CatalogModel


@dataclass(frozen=True, slots=True)
class NamedSentences:
    """name: of their file; "" = the visitor's own, or new ones of a task."""

    sentences: Sentences
    name: str = ""


def default_kind(model: CatalogModel) -> str:
    """The kind of the sentences of `default_sentences`: "shipped", "task" or "lines"."""
    if shipped_gold(model) is not None:
        return "shipped"
    return "task" if "task" in kinds_for(model) else "lines"


def default_sentences(model: CatalogModel) -> NamedSentences:
    """New sentences of the model's task, the pairs that ship with it, or its examples."""
    if (gold := shipped_gold(model)) is not None:
        rows = (line.split("\t")[:2] for line in gold.data.decode("utf-8-sig").splitlines())
        pairs = Sentences("pairs", text="\n".join("\t".join(row) for row in rows))
        return NamedSentences(pairs, gold.name)
    if default_kind(model) == "task":
        return NamedSentences(Sentences())
    name = f"{model.label}, examples".replace("/", "-")  # of a file
    return NamedSentences(Sentences("lines", text="\n".join(model.examples)), name)


def choose_sentences(
    model: CatalogModel, language: str, prefix: str, sizes: Sizes = MEASURED
) -> None:
    """Draw the fields. prefix: of the keys of a form's widgets."""
    kind = choose_kind(*_kinds(model, language, prefix))
    if kind == "shipped":
        choose_size(kind, language, prefix, sizes)
    else:
        sentence_fields(model, kind, language, prefix, _first_lines(model), sizes)


def chosen(
    model: CatalogModel, language: str, prefix: str, sizes: Sizes = MEASURED
) -> NamedSentences:
    """Current values of the fields of `choose_sentences`."""
    defaults = default_sentences(model)
    kind = chosen_kind(*_kinds(model, language, prefix))
    if kind == "shipped":
        return replace(
            defaults, sentences=replace(defaults.sentences, size=chosen_size(prefix, sizes))
        )
    lines = _first_lines(model)
    sentences = chosen_sentences(model, kind, prefix, lines, sizes)
    unchanged = sentences.text == lines and kind == "lines"
    return NamedSentences(sentences, defaults.name if unchanged else "")


def _kinds(model: CatalogModel, language: str, prefix: str) -> tuple[tuple[str, ...], str, str]:
    """The arguments of `choose_kind`."""
    if default_kind(model) == "shipped":
        return ("shipped", *kinds_for(model)), language, f"{prefix}shipped-"
    return kinds_for(model), language, prefix


def _first_lines(model: CatalogModel) -> str:
    """The initial lines of the form."""
    return default_sentences(model).sentences.text if default_kind(model) == "lines" else ""
