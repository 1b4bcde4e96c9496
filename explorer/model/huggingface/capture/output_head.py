"""The output head of a model, over some rows of its hidden states.

After the hidden states a family may have layers, a bias, a scale or a soft cap of its own. The
family's own class computes all of that: a copy of the model shares every module, but `_Body`
replaces the body. It runs the body once, and then returns the hidden states of the wanted rows
only.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from explorer.model.huggingface.anatomy import OutputHead
from explorer.model.huggingface.answers import answer_logits
from explorer.model.huggingface.placement import on_device
from explorer.model.row_logits import RowLogits, rows_of_block

_STATES = "last_hidden_state"
_WITHOUT_CACHE = {"cache": None, "past_key_values": None, "use_cache": False}


def run(
    model: Any, head: OutputHead, given: Mapping[str, Any], *, keep: bool = True
) -> tuple[Any, RowLogits]:
    """The output of `model` for the arguments `given`, and its logits.

    With a `body` in `head`, the output has the logits of all rows if they are kept, else of the
    last row.

    keep: store the logits if they are a single block; otherwise they are computed when read.
    """
    arguments = on_device(model, given)
    if not head.body:
        out = model(**arguments, return_dict=True)
        return out, RowLogits.of(predictions(out))
    body = _Body(model.get_submodule(head.body), head, keep=keep)
    stand_in = _with_body(model, head.body.split("."), body)
    out = stand_in(**arguments, return_dict=True)
    rows = body.end
    if body.kept:
        return out, RowLogits.of(predictions(out))
    again = arguments | {name: _WITHOUT_CACHE[name] for name in arguments.keys() & _WITHOUT_CACHE}

    def compute(first: int, end: int) -> Tensor:
        body.first, body.end = first, end
        return predictions(stand_in(**again, return_dict=True))

    return out, RowLogits.computed(rows, head.width, body.step, compute)


def predictions(out: Any) -> Tensor:
    """The logits of an output, or its hidden states without logits. Spans and replaced tokens have
    the shape that `answers.answered` reads."""
    answer = answer_logits(out)
    if answer is not None:
        return answer.cpu()
    for name in ("logits", "prediction_logits", _STATES):
        found = getattr(out, name, None)
        if isinstance(found, Tensor):
            return found.cpu()
    return next(value for value in out.values() if isinstance(value, Tensor)).cpu()


@contextmanager
def returned_before_head(model: Any) -> Iterator[list[str]]:
    """Paths of the modules that return before the output embeddings are called, for one pass inside
    the `with` block; empty for a model without output embeddings."""
    head, returned, called = model.get_output_embeddings(), list[str](), list[bool]()
    if head is None:
        yield returned
        return

    def note(name: str) -> Any:
        return lambda *_: None if called else returned.append(name)

    hooks = [module.register_forward_hook(note(name)) for name, module in model.named_modules()]
    hooks.append(head.register_forward_pre_hook(lambda *_: called.append(True)))
    try:
        yield returned
    finally:
        for hook in hooks:
            hook.remove()
    if not called:
        returned.clear()


def body_path(model: Any, attention: Any, returned: Sequence[str]) -> str:
    """Path of the body: the outermost module around the last `attention` that has returned before
    the head is called; "" without one.

    attention: None if unknown. returned: from `returned_before_head`.
    """
    if attention is None:
        return model.base_model_prefix if model.base_model_prefix in returned else ""
    path = next(name for name, module in model.named_modules() if module is attention)
    names = path.split(".")
    around = (".".join(names[:count]) for count in range(1, len(names)))
    return next((name for name in around if name in returned), "")


class _Body(torch.nn.Module):
    """Replacement for the body of a model in one pass.

    It runs the body at the first call. It returns the body's output with the hidden states of rows
    `first` to `end` − 1 only, at the first call all of them if they are a single block to `keep`,
    else the last one.
    """

    def __init__(self, body: Any, head: OutputHead, *, keep: bool) -> None:
        super().__init__()
        self.step, self.first, self.end = 0, 0, 0
        self.kept = keep
        self._body = (body,)  # in a tuple: not registered as a submodule
        self._head = head
        self._output: Any = None

    def __getattr__(self, name: str) -> Any:
        """Other attributes, which the model reads from its body."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._body[0], name)

    def forward(self, *args: Any, **options: Any) -> Any:
        if self._output is not None:
            return self._rows(self._output)
        output = self._body[0](*args, **options)
        sequences, self.end = output[_STATES].shape[:2]
        self.step = rows_of_block(self._head.block, sequences, self._head.width)
        self.kept = self.kept and self.end <= self.step
        self.first = 0 if self.kept else self.end - 1
        kept = {name: value for name, value in output.items() if isinstance(value, Tensor)}
        self._output = type(output)(**kept)  # without a cache
        return self._rows(output)

    def _rows(self, output: Any) -> Any:
        states = output[_STATES][:, self.first : self.end]
        return type(output)(**{**output, _STATES: states})


def _with_body(model: Any, path: Sequence[str], body: _Body) -> Any:
    """A copy of `model` that shares its modules, with `body` at `path`."""
    stand_in = copy.copy(model)
    stand_in.__dict__.pop("forward", None)  # Accelerate binds it to the model itself
    name, *inner = path
    new = _with_body(model.get_submodule(name), inner, body) if inner else body
    stand_in.__dict__["_modules"] = {**model._modules, name: new}
    return stand_in
