"""Leave-one-out by a loop over the tokens, with masks of the library itself and vectors that it is
given: no hook, and no code of the package."""

from typing import Any

import torch
from torch import Tensor


@torch.no_grad()
def slow_leave_one_out(
    model: Any, source: list[int] | None, target: list[int], labels: list[int]
) -> Tensor:
    """(T, S + T): fall of ln p of each of `labels` without each token.

    A token of the source is padding for the library. So is a token of the target for the rows
    behind it; its own row is the last one of a pass over vectors, the last of which is 0.
    """
    decodes = {} if source is None else {"input_ids": torch.tensor([source])}
    ids, mask, vectors = ("decoder_" if decodes else "" for _ in range(3))
    ids, mask, vectors = f"{ids}input_ids", f"{mask}attention_mask", f"{vectors}inputs_embeds"
    places = {} if decodes else {"position_ids": torch.arange(len(target))[None]}
    table = (model.get_decoder() if decodes else model).get_input_embeddings()

    def chosen(given: dict[str, Any], rows: slice = slice(None)) -> Tensor:
        logits = model(**decodes, **given).logits[0, rows].log_softmax(-1)
        return logits.gather(1, torch.tensor(labels[rows])[:, None])[:, 0].double()

    whole = {ids: torch.tensor([target])}
    before, found = chosen(whole), []
    for key in range(len(source or ())):
        seen = torch.ones(1, len(source or ()), dtype=torch.long)
        seen[0, key] = 0
        found.append(before - chosen(whole | {"attention_mask": seen}))
    for key in range(len(target)):
        seen = torch.ones(1, len(target), dtype=torch.long)
        seen[0, key] = 0
        fallen = before - chosen(whole | {mask: seen} | places)
        until = table(torch.tensor([target[: key + 1]])).clone()
        until[0, key] = 0
        own = chosen_of_last(model, decodes | {vectors: until}, labels[key])
        fallen[key] = before[key] - own
        fallen[:key] = 0
        found.append(fallen)
    return torch.stack(found, 1)


def chosen_of_last(model: Any, given: dict[str, Any], label: int) -> Tensor:
    """ln p of a label in the last row."""
    return model(**given).logits[0, -1].double().log_softmax(-1)[label]
