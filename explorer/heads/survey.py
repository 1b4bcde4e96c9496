"""Everything that can be measured of a model's heads, in one go."""

from explorer.heads.ablation import ablation, together
from explorer.heads.counterfactuals import mean_outputs
from explorer.heads.evaluation_batches import Progress, Sentences, quiet
from explorer.heads.gradient_importance import importance
from explorer.heads.head_report import Findings
from explorer.heads.measure import measure
from explorer.model.explorable import ExplorableModel


def survey(
    model: ExplorableModel,
    sentences: Sentences,
    *,
    gradients: bool = False,
    removed_on: int = 0,
    progress: Progress = quiet,
) -> Findings:
    """Metrics and roles of every head on `sentences`, and if wanted what their loss does.

    gradients: importance by gradient too, on all of them.
    removed_on: of how many of them to remove each head in turn; 0 for none. The means that
        take a head's place are over all of `sentences`.
    """
    shares = [0.1, 0.2 * gradients, 0.7 * bool(removed_on)]

    def stage(number: int) -> Progress:
        return lambda share: progress((sum(shares[:number]) + shares[number] * share) / sum(shares))

    findings = measure(model, sentences, stage(0))
    if gradients:
        findings = findings.joined(importance(model, sentences, stage(1)))
    if removed_on:
        some, means = sentences.first(removed_on), mean_outputs(model, sentences)
        effects = ablation(model, some, means, stage(2))
        facts = {
            "sentences": len(some),
            "means": means.name,
            "together": together(model, some),
        }
        findings = findings.joined(effects, ablation=facts)
    return findings
