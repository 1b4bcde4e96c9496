"""What `model.beam` returns: the tree of one beam search, of which any node can be traced."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.core.trace import Trace
from explorer.model.beam_tree import BeamNode, BeamTree
from explorer.model.trace_options import TracedModel


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Beam(BeamTree):
    """The tree, and what was searched.

    given: the options of `trace` that say what is read.
    """

    model: TracedModel
    given: Mapping[str, Any]

    def trace(self, node: BeamNode | int, **options: Any) -> Trace:
        """The trace in which the tokens of `node`, and no more, are given as the output.

        options: others of `trace`, such as `capture`. Raises `ConfigError` on a node that does not
        exist, otherwise as `trace`.
        """
        tokens = {one.step: one.id for one in self.path(node)}
        return self.model.trace(**self.given, force=tokens, max_new_tokens=len(tokens), **options)
