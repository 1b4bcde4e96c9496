import re
import threading

import pytest
import torch
from torch import nn

from explorer.core.errors import HookError
from explorer.core.i18n import LANGUAGES
from explorer.core.sites import SITES
from explorer.model.hooks import edit, path, recorded, residual_path, watched

SOURCE = torch.tensor([[3, 4, 5, 2]])
TARGET = torch.tensor([[1, 6, 7]])


def test_paths_are_those_of_the_modules(make_model):
    points = make_model().hook_points
    assert "encoder.layers.0.self_attention.pattern" in points
    assert "decoder.layers.2.cross_attention.scores" in points
    attentions, feed_forwards, stacks = 2 + 2 * 3, 2 + 3, 2
    residuals = attentions + feed_forwards
    assert len(points) == 7 * attentions + feed_forwards + 4 * residuals + 4 * stacks + 1


def test_paths_of_attentions_are_in_the_order_of_sites(make_model):
    model = make_model()
    found = model.config.attentions
    assert list(dict.fromkeys(site for site, _ in found)) == list(SITES)
    for site, layer in found:
        assert path(site, layer, "pattern") in model.hook_points
        assert residual_path(site, layer, "input") in model.hook_points
    patterns = [name for name in model.hook_points if name.endswith(".pattern")]
    assert len(patterns) == len(found)


def test_recording_does_not_change_the_logits(make_model):
    model = make_model()
    plain = model(SOURCE, TARGET)
    with recorded(model, "*"):
        torch.testing.assert_close(model(SOURCE, TARGET), plain, rtol=0, atol=2e-6)
    assert torch.equal(model(SOURCE, TARGET), plain)


def test_nothing_stays_recorded_after_the_block_even_when_it_fails(make_model):
    model = make_model()
    with pytest.raises(ZeroDivisionError), recorded(model, "*"):
        _ = 1 / 0
    assert not watched(*model.hook_points.values())


def test_recorded_patterns_keep_their_gradients(make_model):
    model = make_model()
    with recorded(model, "decoder.layers.0.cross_attention.pattern") as values:
        logits = model(SOURCE, TARGET)
    (pattern,) = values.values()
    pattern.retain_grad()
    logits.sum().backward()
    assert pattern.grad is not None
    assert pattern.grad.abs().sum() > 0


def test_an_edit_changes_what_follows_and_the_edited_value_is_recorded(make_model):
    model = make_model()
    plain = model(SOURCE, TARGET)
    name = "decoder.layers.2.cross_attention.head_output"
    with edit(model, {name: torch.zeros_like}), recorded(model, name) as values:
        edited = model(SOURCE, TARGET)
    assert not values[name].any()
    assert (edited - plain).abs().max() > 1e-3
    assert torch.equal(model(SOURCE, TARGET), plain)


def test_two_nested_edits_both_apply(make_model):
    model = make_model()
    name = "encoder.layers.0.self_attention.head_output"
    with (
        edit(model, {name: torch.ones_like}),
        edit(model, {name: lambda value: 3 * value}),
        recorded(model, name) as values,
    ):
        model(SOURCE, TARGET)
    assert values[name].unique().tolist() == [3.0]


def test_an_unknown_pattern_is_refused(make_model):
    with pytest.raises(HookError), recorded(make_model(), "*.no_such_point"):
        pass


@pytest.mark.parametrize(
    "name",
    [name for name in dir(nn.Module) if re.fullmatch("register_.*(forward|backward).*", name)],
)
def test_a_hook_of_pytorch_which_would_never_run_is_refused(make_model, name):
    point = make_model().hook_points[path("cross", 0, "pattern")]
    with pytest.raises(HookError, match=r"explorer\.model\.hooks") as caught:
        getattr(point, name)(lambda *_: None)
    for language in LANGUAGES:
        assert "model.run(text, {point: action})" in caught.value.in_language(language)


def test_two_models_do_not_record_each_other(make_model):
    one, other = make_model(seed=1), make_model(seed=2)
    with recorded(one, "*.pattern") as values:
        other(SOURCE, TARGET)
    assert values == {}


def test_threads_on_one_model_never_see_each_others_values(make_model):
    model = make_model()
    sources = [torch.randint(3, 13, (1, length)) for length in (2, 3, 5, 7)]
    expected = []
    for source in sources:
        with recorded(model, "*") as values:
            model(source, TARGET)
        expected.append(values)
    wrong: list[str] = []
    barrier = threading.Barrier(len(sources))

    def look(mine: int) -> None:
        barrier.wait()
        for _ in range(30):
            with recorded(model, "*") as values:
                model(sources[mine], TARGET)
            for name, value in expected[mine].items():
                if values[name].shape != value.shape or not torch.allclose(
                    values[name], value, atol=1e-5
                ):
                    wrong.append(name)

    threads = [threading.Thread(target=look, args=(mine,)) for mine in range(len(sources))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_edit_in_one_thread_does_not_change_the_others(make_model):
    model = make_model()
    plain = model(SOURCE, TARGET)
    inside, done = threading.Event(), threading.Event()

    def disturb() -> None:
        with edit(model, {"*.pattern": torch.zeros_like}):
            inside.set()
            done.wait()

    thread = threading.Thread(target=disturb)
    thread.start()
    inside.wait()
    try:
        assert torch.equal(model(SOURCE, TARGET), plain)
    finally:
        done.set()
        thread.join()
