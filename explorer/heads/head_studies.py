"""What can be asked of a model beside traces, as methods of what `explorer.load` returns."""

from explorer.heads import contributions
from explorer.heads.contributions import Contributions
from explorer.model.measurable import MeasurableModel


class HeadStudies:
    """Mixed into a `MeasurableModel`; each method has a function of its own in `heads`."""

    def contributions(
        self: MeasurableModel, text: str, method: str = "alti", *, target: str | None = None
    ) -> Contributions:
        """How much each token of source and prefix contributes to each output token of `text`.

        >>> model = explorer.load("checkpoints/reverse.safetensors")
        >>> model.contributions("7 3 9").matrix.sum(-1).round(3)  # rows: output tokens
        array([1., 1., 1., 1.])

        method: "alti"; target: the output, None = what the model decodes. Formulas, costs and what
        each method ignores: `explorer.heads.contributions.contributions`.

        Raises `ConfigError` on a method that does not exist or that the model does not allow, and
        `VocabularyError` on a text that cannot be read or is too long.
        """
        return contributions.contributions(self, text, method, target=target)
