"""Attribution of the logit difference between each token and the runner-up, as a payload for the
browser, which requests it when a visitor chooses to see it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.components.shared.payload import pack_payload

if TYPE_CHECKING:
    import pandas as pd

_GROUPS = {
    "embedding": ("token", "position"),
    "feed_forward": ("feed_forward",),
    "bias": ("attention_bias", "norm_bias", "logit_bias"),
}
"""Groups of parts in the player, other than heads → the parts that are summed."""


def attribution_payload(
    parts: "pd.DataFrame",
    rest: "pd.DataFrame",
    difference: NDArray[np.float64],
    runner_up: Sequence[str],
) -> bytes:
    """A payload of an attribution; the arguments are those of `LogitAttribution`.

    Arrays, float32 in nats: "decoder" and "cross" (step, layer, head); "embedding", "feed_forward",
    "bias" and "difference" (step,). Header: "runner_up" labels, "heads" (layers, heads) by site.
    """
    steps = len(difference)
    arrays, heads = {"difference": difference}, {}
    for site, of_site in parts.groupby("site"):
        shape = (of_site.layer.nunique(), of_site["head"].nunique())
        in_order = of_site.sort_values(["step", "layer", "head"]).value
        arrays[str(site)], heads[str(site)] = in_order.to_numpy().reshape(steps, *shape), shape
    for name, summed in _GROUPS.items():
        of_group = rest[rest.part.isin(summed)].groupby("step").value.sum()
        arrays[name] = of_group.reindex(range(1, steps + 1), fill_value=0.0).to_numpy()
    header = {"runner_up": list(runner_up), "heads": heads}
    numbers = {name: array.astype(np.float32) for name, array in arrays.items()}
    return pack_payload(header, numbers)
