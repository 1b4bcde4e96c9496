"""What a card of a lesson asks a learner to do: changes in the model, as lines of interventions."""

from explorer.core.interventions import Interventions
from explorer.core.verbs import Ablation, Intervention, Omission, RowOverride

TRAINED_WITHOUT_MASK = Interventions((Omission("mask"),))
"""What a card on the page Train can ask for: a training of one's own without the causal mask."""


def read_deed(text: str) -> Interventions:
    """The changes in the lines of a card, which semicolons divide. Raises `InterventionError`."""
    return Interventions.parse(line.strip() for line in text.split(";"))


def is_done(deed: Interventions, now: Interventions) -> bool:
    """Whether all changes of a deed are in force, among others or not.

    A head may be removed in any way, and a row may have any weights whose largest is at the key of
    the deed's largest.
    """
    return all(any(_does(one, wanted) for one in now.every) for wanted in deed.every)


def _does(change: Intervention, wanted: Intervention) -> bool:
    match change, wanted:
        case Ablation(), Ablation():
            return change[:3] == wanted[:3]
        case RowOverride(), RowOverride():
            largest = [one.weights.index(max(one.weights)) for one in (change, wanted)]
            return change[:4] == wanted[:4] and largest[0] == largest[1]
    return type(change) is type(wanted) and change == wanted
