"""Record the calls of a pass, with weights stored directly in the arrays of a `Trace`, and compare
the weights with those of a second pass."""

from collections.abc import Callable, Mapping
from functools import partial

import torch

from explorer.core.trace_size import Places
from explorer.model.captured_pass import LayerArrays
from explorer.model.huggingface.anatomy import Anatomy, Place
from explorer.model.huggingface.capture.attention_calls import Call, Seen


class Recording:
    """The calls of one pass, by site in the order of its layers.

    Only the weights of the layers in `places` are kept, in one array per site. So at most the
    weights of one layer are in memory twice.
    """

    def __init__(self, anatomy: Anatomy, places: Places) -> None:
        self.places = places
        self.calls: dict[str, list[Call]] = {place.site: [] for place in anatomy.places}
        self.difference = 0.0
        """Largest difference of a weight between the two passes."""
        self.arrays = LayerArrays()
        self._anatomy = anatomy

    @property
    def chosen(self) -> dict[str, list[Call]]:
        """The calls whose weights are kept."""
        return {
            site: [self.calls[site][layer] for layer in own] for site, own in self.places.items()
        }

    def keep(self) -> Mapping[str, Seen]:
        """Callbacks for the pass to record, by stack."""
        return self._seen(self._keep)

    def compare(self) -> Mapping[str, Seen]:
        """Callbacks for a second pass over the same tokens, which update `difference`."""
        return self._seen(self._compare)

    def _seen(self, see: Callable[[Place, Call], None]) -> Mapping[str, Seen]:
        stacks = {"encoder": self._anatomy.encoder, "decoder": self._anatomy.decoder}

        def pass_on(places: tuple[Place, ...], index: int, call: Call) -> None:
            see(places[index], call)

        return {stack: partial(pass_on, places) for stack, places in stacks.items()}

    def _keep(self, place: Place, call: Call) -> None:
        own = self.places.get(place.site, ())
        if place.layer in own:
            index = own.index(place.layer)
            name = f"{place.site}.attention"
            call.weights = self.arrays.put(name, index, len(own), call.weights)
        else:
            call.weights = torch.empty(0)
        self.calls[place.site].append(call)

    def _compare(self, place: Place, call: Call) -> None:
        if place.layer not in self.places.get(place.site, ()):
            return
        kept = self.calls[place.site][place.layer].weights[0]
        for one, other in zip(kept, call.weights[0], strict=True):  # one head at a time
            self.difference = max(self.difference, float((one - other).abs().max()))
