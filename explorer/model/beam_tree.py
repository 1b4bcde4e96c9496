"""What beam search finds: the tree of the beginnings that it considered."""

from dataclasses import asdict, dataclass
from enum import StrEnum

import pandas as pd

from explorer.core.errors import ConfigError


class Fate(StrEnum):
    """What became of a beginning at its step."""

    KEPT = "kept"  # among the most probable ones, and gone on with
    ENDED = "ended"  # likewise, and complete
    PRUNED = "pruned"


@dataclass(frozen=True, slots=True)
class BeamNode:
    """One beginning of the output: that of its parent and one more token.

    number: its place in `BeamTree.nodes`. parent: the number of another node; None = no token yet.
    step: of the token, as in the steps of a trace.
    log_probability: ln p of the token after its parent. sum: of ln p over the whole beginning.
    text: of the whole beginning.
    """

    number: int
    parent: int | None
    step: int
    id: int
    token: str
    log_probability: float
    sum: float
    fate: Fate
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BeamTree:
    """The tree of one beam search.

    nodes: in the order of their steps. Of each beginning that is kept the `width` most probable
        next tokens are here; the others are pruned, too.
    outputs: the nodes with the outputs found, the one with the best score first, at most `width`.
        An output ends, or is as long as allowed.
    """

    width: int
    length_penalty: float
    nodes: tuple[BeamNode, ...]
    outputs: tuple[BeamNode, ...]

    @property
    def best(self) -> BeamNode:
        """The output with the best score."""
        return self.outputs[0]

    @property
    def table(self) -> pd.DataFrame:
        """One row for each node, its number as the index: parent, step, id, token, log_probability,
        sum, fate, text."""
        rows = [asdict(node) | {"fate": str(node.fate)} for node in self.nodes]
        return pd.DataFrame(rows).astype({"parent": "Int64"}).set_index("number")

    @property
    def greedy(self) -> tuple[BeamNode, ...]:
        """The path of greedy decoding as far as the tree has it: it may be pruned."""
        path: list[BeamNode] = []
        last = None
        while nexts := [node for node in self.nodes if node.parent == last]:
            path.append(max(nexts, key=lambda node: node.log_probability))
            last = path[-1].number
        return tuple(path)

    def score(self, node: BeamNode) -> float:
        """The sum, divided by the length penalty."""
        return node.sum / penalty(len(self.path(node)), self.length_penalty)

    def path(self, node: BeamNode | int) -> tuple[BeamNode, ...]:
        """The nodes from the first token to `node`, a node or its number. Raises `ConfigError`."""
        own = node.number if isinstance(node, BeamNode) else node
        if type(own) is not int or not 0 <= own < len(self.nodes):
            raise ConfigError("no_beam_node", got=repr(own), last=len(self.nodes) - 1)
        path = [self.nodes[own]]
        while (parent := path[-1].parent) is not None:
            path.append(self.nodes[parent])
        return tuple(reversed(path))

    def __repr__(self) -> str:
        return f"Beam(width {self.width}: {len(self.nodes)} nodes, best {self.best.text!r})"


def penalty(length: int, strength: float) -> float:
    """By what a sum of `length` tokens is divided, ((5 + length) / 6) ** strength. Source: Wu et
    al. 2016, arXiv 1609.08144, equation 14."""
    return float(((5 + length) / 6) ** strength)
