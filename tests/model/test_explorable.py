import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.core import trace_size
from explorer.core.errors import (
    ConfigError,
    ExplorerError,
    TraceSizeError,
    VocabularyError,
)
from explorer.core.sites import SITES
from explorer.core.trace import Trace
from explorer.core.vocabulary import BOS, EOS, PAD, TOY_VOCABULARY
from explorer.model import row_logits
from explorer.model.checkpoint import Checkpoint
from explorer.model.config import ModelConfig
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import edit, recorded
from explorer.model.transformer import Transformer


def test_labels_follow_the_contract(explorable):
    trace = explorable.trace("1 2 甲")
    assert trace.source_tokens == ("1", "2", "甲", "<eos>")
    assert trace.target_tokens[0] == "<bos>"
    assert trace.target_tokens[1:] == trace.predicted_tokens[:-1]
    steps = len(trace.target_tokens)
    assert trace.attention("encoder").shape == (1, 3, 4, 4)
    assert trace.attention("decoder").shape == (2, 3, steps, steps)
    assert trace.attention("cross").shape == (2, 3, steps, 4)
    assert trace.facts["model"] == "tiny"


def test_the_captured_rows_equal_those_seen_while_decoding(explorable):
    """The causal mask makes row t of one pass what step t + 1 saw, one token at a time."""
    trace = explorable.trace("3 1 2")
    model, steps = explorable.transformer, len(trace.target_tokens)
    assert steps >= 3
    ids = explorable.target_vocabulary.encode(" ".join(trace.target_tokens[1:]))
    source = torch.tensor([[*explorable.source_vocabulary.encode("3 1 2"), EOS]])
    for row in range(steps):
        target = torch.tensor([[1, *ids[:row]]])
        with torch.no_grad(), recorded(model, "decoder.*.pattern") as seen:
            model(source, target)
        for layer in range(2):
            cross = seen[f"decoder.layers.{layer}.cross_attention.pattern"][0, :, -1]
            np.testing.assert_allclose(trace.attention("cross")[layer, :, row], cross, atol=1e-6)
            own = seen[f"decoder.layers.{layer}.self_attention.pattern"][0, :, -1]
            np.testing.assert_allclose(
                trace.attention("decoder")[layer, :, row, : row + 1], own, atol=1e-6
            )


def test_integrity_is_measured_and_ok(explorable):
    integrity = explorable.trace("1 2", pad_to=5).integrity()
    assert list(integrity.check) == [
        "rows_sum_to_one",
        "masked_cells_are_zero",
        "hooked_equals_plain",
        "cached_equals_full",
        "padding_changes_nothing",
        "unchanged_since_capture",
    ]
    assert integrity.ok.all()
    assert "padding_changes_nothing" not in explorable.trace("1 2").integrity().check.tolist()


def test_integrity_detects_a_pass_with_an_edited_value(explorable):
    calls = iter(range(1000))
    disturb = {
        "decoder.layers.0.self_attention.head_output": lambda value: value + 0.1 * next(calls)
    }
    with edit(explorable.transformer, disturb):
        integrity = explorable.trace("1 2").integrity().set_index("check")
    assert not integrity.ok["hooked_equals_plain"]
    assert not integrity.ok["cached_equals_full"]


def test_padding_is_run_and_masked_with_its_reason(explorable):
    plain, padded = explorable.trace("1 2"), explorable.trace("1 2", pad_to=5)
    assert padded.source_tokens == ("1", "2", "<eos>", "<pad>", "<pad>")
    assert padded.predicted_tokens == plain.predicted_tokens
    assert (padded.mask_reason("cross")[:, 3:] == "padding").all()
    assert (padded.mask_reason("encoder")[:, 3:] == "padding").all()
    np.testing.assert_allclose(
        padded.attention("cross")[..., :3], plain.attention("cross"), atol=1e-6
    )
    later = padded.mask_reason("decoder")[np.triu_indices(len(padded.target_tokens), 1)]
    assert (later == "later position").all()


def test_full_capture_has_all_parts_of_the_attention(explorable):
    trace = explorable.trace("1 2 3", pad_to=6, capture="full")
    for site in trace.sites:
        queries, keys = trace.query_vectors(site), trace.key_vectors(site)
        products = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        np.testing.assert_allclose(trace.scores(site), products, atol=1e-5)
        scores = np.where(trace.mask(site), trace.scores(site), -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        np.testing.assert_allclose(trace.attention(site), weights, atol=1e-6)
        mixed = trace.attention(site) @ trace.values(site)
        np.testing.assert_allclose(trace.head_output(site), mixed, atol=1e-6)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_full_capture_has_the_path_of_a_token_through_the_layers(make_model, explorable, norm):
    model = make_model(replace(explorable.transformer.config, norm=norm), seed=5)
    checkpoint = replace(explorable.checkpoint, model=model)
    arrays = ExplorableModel(checkpoint, "tiny").trace("1 2", pad_to=5, capture="full").arrays
    normed = (lambda norm, x: x) if norm == "pre" else applied_norm
    for stack, sites in (("encoder", ("encoder",)), ("decoder", ("decoder", "cross"))):
        module = getattr(model, stack)
        positions = arrays[f"{stack}.embedding"] - arrays[f"{stack}.token_vectors"]
        expected = module.embedding.positions[: len(positions)]
        np.testing.assert_allclose(positions, expected, atol=1e-5)
        x = arrays[f"{stack}.embedding"]
        for index, layer in enumerate(module.layers):
            for site in sites:
                around = getattr(
                    layer, f"around_{'cross' if site == 'cross' else 'self'}_attention"
                )
                near(arrays[f"{site}.input"][index], x)
                added = arrays[f"{site}.sublayer_output"][index]
                x = normed(around, x + added)
                near(arrays[f"{site}.output"][index], x)
            added = arrays[f"{stack}.feed_forward_output"][index]
            hidden = torch.tensor(arrays[f"{stack}.feed_forward_hidden"][index])
            near(added, layer.feed_forward.contract(hidden).detach())
            x = normed(layer.around_feed_forward, x + added)
            near(arrays[f"{stack}.layer_output"][index], x)
        near(arrays[f"{stack}.stack_output"], module.norm(torch.tensor(x)).detach())
    logits = model.logits(torch.tensor(arrays["decoder.stack_output"])).detach()
    near(arrays["logits"], logits)


def near(got, expected):
    np.testing.assert_allclose(got, expected, atol=1e-5)


def applied_norm(norm, x):
    weight, bias = norm.weight.detach(), norm.bias.detach()
    return torch.nn.functional.layer_norm(torch.tensor(x), x.shape[-1:], weight, bias).numpy()


def test_decoding_continues_a_forced_prefix(explorable):
    trace = explorable.trace("1 2 3", prefix="甲 甲")
    assert trace.predicted_tokens[:2] == ("甲", "甲")
    chosen = trace.steps().query("chosen").set_index("step")
    assert chosen.forced.tolist()[:3] == [True, True, False]
    assert (chosen[~chosen.forced]["rank"] == 1).all()


def test_a_target_is_forced_to_its_end_with_a_loss_for_each_token(explorable):
    trace = explorable.trace("1 2 3", target="3 2 1")
    assert trace.predicted_tokens == ("3", "2", "1", "<eos>")
    source = torch.tensor([[3, 4, 5, EOS]])
    target = torch.tensor([[1, 5, 4, 3]])
    with torch.no_grad():
        logits = explorable.transformer(source, target)[0]
    expected = torch.nn.functional.cross_entropy(
        logits, torch.tensor([5, 4, 3, EOS]), reduction="none"
    )
    np.testing.assert_allclose(trace.losses, expected, atol=1e-5)
    assert trace.steps().query("chosen").forced.all()


def test_one_forced_step_does_not_change_the_steps_before_it(explorable):
    plain = explorable.trace("1 2 3")
    other = 7 if plain.predicted_tokens[1] != "甲" else 3
    trace = explorable.trace("1 2 3", force={2: other})
    assert trace.predicted_tokens[0] == plain.predicted_tokens[0]
    assert trace.predicted_tokens[1] == explorable.target_vocabulary.label(other)
    chosen = trace.steps().query("chosen").set_index("step")
    assert chosen.forced.tolist().count(True) == 1
    assert trace.facts["forced"] == {"2": other}


def test_candidates_are_the_most_probable_tokens(explorable):
    trace = explorable.trace("2 2", target="甲 1")
    with torch.no_grad():
        logits = explorable.transformer(torch.tensor([[4, 4, EOS]]), torch.tensor([[1, 7, 3]]))
    probabilities = logits[0].softmax(-1)
    for step, rows in trace.steps().groupby("step"):
        expected = probabilities[step - 1]
        order = [number for number in expected.argsort(descending=True).tolist() if number >= EOS]
        assert rows.id.tolist() == order
        assert rows["rank"].tolist() == list(range(1, 7))
        np.testing.assert_allclose(rows.probability, expected[order], atol=1e-6)
        assert rows.chosen.sum() == 1


def test_a_chosen_token_below_the_ten_best_is_listed_with_its_true_rank(make_model):
    config = ModelConfig(source_vocabulary=23, target_vocabulary=23, d_model=12, heads=3, d_ff=8)
    model = ExplorableModel(Checkpoint(make_model(config), TOY_VOCABULARY, TOY_VOCABULARY, {}), "x")
    ranks = set()
    for token in range(EOS, 23):
        rows = model.trace("1 2", force={1: token}).steps().query("step == 1")
        (own,) = rows[rows.chosen]["rank"]
        assert rows["rank"].tolist() == sorted({*range(1, 11), own})
        ranks.add(own)
    assert ranks == set(range(1, 22))


def test_gold_comes_from_the_task(explorable):
    trace = explorable.trace("1 2 3", target="3 2 1", pad_to=5)
    expected = np.zeros((4, 5), bool)
    expected[[0, 1, 2], [2, 1, 0]] = True
    np.testing.assert_array_equal(trace.gold, expected)


def test_a_length_stop_does_not_feed_in_the_last_prediction(explorable):
    with torch.no_grad():
        explorable.transformer.logits.bias[EOS] = -100
    trace = explorable.trace("1")
    assert len(trace.target_tokens) == len(trace.predicted_tokens) == 11
    assert trace.predicted_tokens[-1] != "<eos>"
    assert not trace.facts["ended"]


@pytest.mark.parametrize(
    ("text", "options", "key"),
    [
        ("", {}, "empty_text"),
        ("9", {}, "unknown_symbol"),
        ("1 " * 11, {}, "long_source"),
        ("1", {"pad_to": 1}, "bad_padding"),
        ("1", {"pad_to": 12}, "bad_padding"),
        ("1", {"capture": "all"}, "bad_capture"),
        ("1", {"target": "1", "prefix": "1"}, "two_ways_to_force"),
        ("1", {"target": "1 " * 11}, "long_target"),
        ("1", {"force": {1: 0}}, "no_candidate"),
        ("1", {"force": {1: 8}}, "no_candidate"),
        ("1", {"force": {0: 3}}, "no_such_step"),
        ("1", {"force": {99: 3}}, "no_such_step"),
        ("1", {"force": {"1": 3}}, "bad_force"),
        ("1", {"force": [3]}, "bad_force"),
        ("1", {"pad_to": "4"}, "no_whole_number"),
        ("1", {"max_new_tokens": "3"}, "no_whole_number"),
        ("1", {"without": 3}, "bad_omission"),
        ("1", {"without": None}, "bad_omission"),
        ("1", {"means": 3}, "bad_means"),
        ("1", {"capture": ["full"]}, "bad_capture"),
        ("1", {"target": ["1"]}, "no_text"),
        (["1 2", "2 1"], {}, "no_text"),
        (None, {}, "no_text"),
        (12, {}, "no_text"),
        (b"1 2", {}, "no_text"),
        (np.array(["1 2"]), {}, "no_text"),
    ],
)
def test_an_invalid_request_is_refused_in_one_sentence(explorable, text, options, key):
    with pytest.raises(ExplorerError) as caught:
        explorable.trace(text, **options)
    assert caught.value.key == key
    assert isinstance(caught.value, (VocabularyError, ConfigError))


def test_a_text_of_the_largest_length_runs(explorable):
    assert len(explorable.trace("1 " * 10).source_tokens) == 11


def test_each_thread_gets_its_own_trace(explorable):
    texts = ["1", "2 3", "甲 1 2", "3 3 3 3 1"]
    expected = {text: explorable.trace(text).digest for text in texts}
    got: list[tuple[str, Trace]] = []

    def visit(text: str) -> None:
        got.extend((text, explorable.trace(text)) for _ in range(10))

    threads = [threading.Thread(target=visit, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 40
    for text, trace in got:
        assert trace.source_tokens[:-1] == tuple(text.split())
        assert trace.integrity().ok.all()
    assert {text: trace.digest for text, trace in got} == expected


def test_only_chosen_layers_and_sites_are_captured(explorable):
    whole = explorable.trace("1 2", pad_to=5, capture="full")
    part = explorable.trace("1 2", pad_to=5, capture="full", layers=[1], sites=["cross"])
    assert part.sites == ("cross",)
    assert part.layer_numbers("cross") == (1,)
    assert part.facts["model_layers"] == {"encoder": 1, "decoder": 2, "cross": 2}
    for kind in ("attention", "scores", "query_vectors", "key_vectors", "values", "head_output"):
        own = part.arrays[f"cross.{kind}"]
        # The other layers ran fused: the same but for rounding.
        np.testing.assert_allclose(own, whole.arrays[f"cross.{kind}"][1:], atol=1e-6)
    np.testing.assert_array_equal(part.closed("cross"), whole.closed("cross"))
    assert part.integrity().ok.all()
    assert part.steps().equals(whole.steps())
    encoder = explorable.trace("1 2", sites=["encoder"])
    assert encoder.steps().equals(explorable.trace("1 2").steps())


def test_too_much_attention_is_refused_before_the_run(explorable, monkeypatch):
    text, target = "1 2 3", "3 2 1"
    whole = explorable.trace(text, target=target)
    needed = sum(whole.attention(site).nbytes for site in whole.sites)
    monkeypatch.setattr(trace_size, "largest_trace", lambda: needed)
    assert "model_layers" not in explorable.trace(text, target=target).facts
    monkeypatch.setattr(trace_size, "largest_trace", lambda: needed - 1)
    fitting = explorable.trace(text, target=target, layers="fit")
    assert {site: len(fitting.attention(site)) for site in fitting.sites} == {
        "encoder": 1,
        "decoder": 1,
        "cross": 1,
    }
    monkeypatch.setattr(Transformer, "encode", None)  # would fail
    with pytest.raises(TraceSizeError, match="2 layers the first 1 fit") as caught:
        explorable.trace(text, target=target)
    assert "前 1 层" in caught.value.in_language("zh")


def test_logits_in_blocks_change_nothing(explorable, monkeypatch):
    whole = explorable.trace("1 2 3 3 2", pad_to=8, capture="full")
    width = explorable.transformer.config.target_vocabulary
    monkeypatch.setattr(row_logits, "BLOCK", 4 * width * 2)
    blocks = explorable.trace("1 2 3 3 2", pad_to=8, capture="full")
    assert len(whole.target_tokens) > 2
    assert blocks.integrity().ok.all()
    assert blocks.measured.keys() == whole.measured.keys()
    for name, array in whole.arrays.items():
        np.testing.assert_allclose(blocks.arrays[name], array, rtol=0, atol=1e-5, err_msg=name)


def test_more_logits_than_fit_are_refused_while_decoding(explorable, monkeypatch):
    steps = len(explorable.trace("1 2 3").target_tokens)
    needed = 4 * steps * explorable.transformer.config.target_vocabulary
    monkeypatch.setattr(trace_size, "largest_logits", lambda: needed)
    explorable.trace("1 2 3")
    monkeypatch.setattr(trace_size, "largest_logits", lambda: needed - 1)
    with pytest.raises(TraceSizeError) as caught:
        explorable.trace("1 2 3")
    assert caught.value.key == "logits_too_large"
    assert caught.value.facts["fits"] == steps - 1


def test_what_was_decoded_is_counted_as_well(explorable, monkeypatch):
    whole = explorable.trace("1")
    assert len(whole.target_tokens) > len(whole.source_tokens)
    needed = sum(whole.attention(site).nbytes for site in whole.sites)
    monkeypatch.setattr(trace_size, "largest_trace", lambda: needed - 1)
    with pytest.raises(TraceSizeError):
        explorable.trace("1")


def test_the_repr_of_a_model_is_one_line(explorable):
    config = explorable.transformer.config
    layers = f"{config.encoder_layers}+{config.decoder_layers} layers"
    assert repr(explorable) == f"ExplorableModel('{explorable.name}': {layers}, 3 heads)"


def test_reprs_are_short(explorable):
    trace = explorable.trace("1 2 3")
    assert repr(trace).startswith(f"Trace({explorable.name}: '1 2 3' → ")
    vocabulary = explorable.source_vocabulary
    for one in (explorable.checkpoint, trace, vocabulary, explorable.transformer.config):
        assert len(repr(one)) < 400
        assert "\n" not in repr(one)


def test_a_decoder_alone_continues_a_prompt(continuing):
    trace = continuing.trace("1 2 甲")
    assert trace.sites == ("decoder",)
    assert trace.source_tokens == ()
    assert trace.target_tokens[:4] == ("<bos>", "1", "2", "甲")
    assert trace.target_tokens[1:] == trace.predicted_tokens[:-1]
    assert trace.facts["prompt"] == 4
    written = [token for token in trace.predicted_tokens[3:] if token != "<eos>"]
    assert trace.text.split() == written
    steps = trace.steps()
    assert steps[steps.forced].step.tolist() == [1, 2, 3]
    assert trace.integrity().ok.all()
    assert (trace.mask_reason("decoder")[np.triu_indices(len(steps.step.unique()), 1)] != "").all()


def test_the_rows_of_a_decoder_alone_equal_those_seen_while_decoding(continuing):
    trace = continuing.trace("3 1", max_new_tokens=4)
    ids = continuing.target_vocabulary.encode(" ".join(trace.target_tokens[1:]))
    for row in range(len(trace.target_tokens)):
        target = torch.tensor([[1, *ids[:row]]])
        with torch.no_grad(), recorded(continuing.transformer, "*.pattern") as seen:
            continuing.transformer(target[:, :0], target)
        for layer in range(2):
            own = seen[f"decoder.layers.{layer}.self_attention.pattern"][0, :, -1]
            found = trace.attention("decoder")[layer, :, row, : row + 1]
            np.testing.assert_allclose(found, own, atol=1e-6)


def test_target_prefix_and_force_of_a_decoder_alone_come_after_the_prompt(continuing):
    given = continuing.trace("1 2", target="3 甲")
    assert given.predicted_tokens == ("1", "2", "3", "甲", "<eos>")
    assert given.text == "3 甲"
    begun = continuing.trace("1 2", prefix="甲", max_new_tokens=3)
    assert begun.predicted_tokens[:3] == ("1", "2", "甲")
    assert len(begun.predicted_tokens) <= 5
    forced = continuing.trace("1 2", force={4: 7})
    assert forced.predicted_tokens[3] == "甲"
    assert forced.facts["forced"] == {"4": 7}
    refused = [
        ("fixed_step", {"force": {2: 4}}),
        ("no_padding", {"pad_to": 9}),
        ("no_such_site", {"ablate": [("cross", 0, 0)]}),
    ]
    for key, options in refused:
        with pytest.raises(ExplorerError) as caught:
            continuing.trace("1 2", **options)
        assert caught.value.key == key
    for key, text, target in [("long_prompt", "1 " * 11, None), ("long_target", "1 2", "3 " * 9)]:
        with pytest.raises(VocabularyError) as caught:
            continuing.trace(text, target=target)
        assert caught.value.key == key
    assert len(continuing.trace("1 " * 10).predicted_tokens) == 11


def test_traces_of_a_decoder_alone_are_those_of_each_text(continuing):
    one, other = continuing.traces(["1 2", "甲"])
    assert one.digest == continuing.trace("1 2").digest
    assert other.facts["text"] == "甲"


def test_what_a_trace_was_fed_is_its_text_with_padding_and_what_was_chosen(explorable):
    trace = explorable.trace("1 2 3", pad_to=6, force={1: 5, 2: 3})
    source, target = explorable.fed(trace)
    assert source.tolist() == [[*explorable.source_vocabulary.encode("1 2 3"), EOS, PAD, PAD]]
    assert target.tolist()[0][:3] == [BOS, 5, 3]
    labels = explorable.target_vocabulary.labels(target[0].tolist())
    assert labels == trace.target_tokens


def test_interventions_may_be_written_as_links_write_them(explorable):
    texts = {
        "ablate": ["cross.1.2"],
        "keep": ["encoder.0.1"],
        "edit_mask": ["mask cross.0.0 0 1"],
        "override_row": ["cross.0.1 0 0.5,0.5"],
    }
    lines = ["ablate cross.1.2", "keep encoder.0.1", "close cross.0.0 0 1"]
    written = explorable.trace("1 2 3", **texts)
    assert written.facts["interventions"] == [*lines, "row cross.0.1 0 0.5,0.5"]
    tuples = {"ablate": [("cross", 1, 2)], "keep": [("encoder", 0, 1)]}
    tuples |= {"edit_mask": [("cross", 0, 0, 0, 1)]}
    tuples |= {"override_row": [("cross", 0, 1, 0, (0.5, 0.5))]}
    given = explorable.trace("1 2 3", **tuples)
    for site in SITES:
        np.testing.assert_array_equal(written.attention(site), given.attention(site))
