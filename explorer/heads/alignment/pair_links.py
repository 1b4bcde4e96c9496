"""Links between the tokens of sentence pairs, by the attention of one head or a layer's mean.

Each pair is teacher-forced: the decoder is fed the given translation.
"""

from explorer.core.alignment import Links, align, align_words
from explorer.core.errors import AlignmentError
from explorer.core.given_tokens import align_tokens, pair_pieces
from explorer.core.trace import Trace
from explorer.core.word_segmentation import grouped, spaced
from explorer.core.words import word_content
from explorer.heads.alignment.forced_traces import forced_traces
from explorer.heads.alignment.gold_file import (
    AlignmentFile,
    GivenTokens,
    fits,
    refuse_other_spaces,
)
from explorer.heads.metrics.evaluation_batches import Progress, no_progress
from explorer.model.explorable import ExplorableModel


def pair_links(
    model: ExplorableModel,
    file: AlignmentFile,
    layer: int,
    head: int | None,
    timing: str = "prediction",
    progress: Progress = no_progress,
) -> list[Links | None]:
    """The links of each pair, None for one that is too long for the model; see `alignment.align`.

    head: None = the mean of the layer's heads.

    Raises `AlignmentError` on a pair the model cannot read, on a head that does not exist, and on
    a pair whose tokens the model's pieces do not spell.
    """
    rows = [row for row, pair in enumerate(file.pairs) if fits(model, pair, row + 1)]
    texts = [(file.pairs[row].source, file.pairs[row].target) for row in rows]
    found: list[Links | None] = [None] * len(file.pairs)
    for done, (number, trace) in enumerate(forced_traces(model, texts), start=1):
        found[rows[number]] = _links(file, rows[number], trace, (layer, head, timing))
        progress(done / len(rows))
    return found


def _links(
    file: AlignmentFile, row: int, trace: Trace, place: tuple[int, int | None, str]
) -> Links:
    """The links of one pair, between what `file.tokens` counts."""
    if isinstance(file.tokens, GivenTokens):
        try:
            return align_tokens(trace, *place, *pair_pieces(trace, *file.tokens.pairs[row]))
        except AlignmentError as error:
            facts = {"row": row + 1, "name": file.tokens.name, "reason": error}
            raise AlignmentError("tokens_refused", **facts) from error
    if file.tokens == "pieces":
        return align(trace, *place)
    if file.tokens == "words":
        return align_words(trace, *place, grouped)
    source, outputs = word_content(trace, spaced)
    refuse_other_spaces(file.pairs[row], (int(source.sum()), int(outputs.sum())), row + 1)
    return align_words(trace, *place, spaced)
