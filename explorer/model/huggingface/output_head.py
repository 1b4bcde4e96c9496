"""The output head of a model, over some rows of its hidden states.

Behind the hidden states a family has layers, a bias, a scale or a soft cap of its own. All of that
is computed by the family's own class: by a copy of the model that shares every module, in which
another one stands for the body. It runs the body once, and then returns its hidden states, those of
the wanted rows alone.
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

    With a `body` in `head` the output has the logits of the last block of rows alone.

    keep: the logits of a single block, else they are computed again where they are read.
    """
    arguments = on_device(model, given)
    if not head.body:
        out = model(**arguments, return_dict=True)
        return out, RowLogits.of(predictions(out))
    body = _Body(model.get_submodule(head.body), head)
    stand_in = _with_body(model, head.body.split("."), body)
    out = stand_in(**arguments, return_dict=True)
    rows = body.end
    if keep and rows <= body.step:
        return out, RowLogits.of(predictions(out))
    again = arguments | {name: _WITHOUT_CACHE[name] for name in arguments.keys() & _WITHOUT_CACHE}

    def compute(first: int, end: int) -> Tensor:
        body.first, body.end = first, end
        return predictions(stand_in(**again, return_dict=True))

    return out, RowLogits.computed(rows, head.width, body.step, compute)


def predictions(out: Any) -> Tensor:
    """The logits of an output, hidden states where it has none; of some answers the form that
    `answers.answered` reads."""
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
    """The paths of the modules that return before the output embeddings are called, of one pass in
    the block; none in a model without them."""
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
    """The path of the body: the outermost module around the last `attention` that has returned
    before the head is called; "" without one. attention: None where it is not known."""
    if attention is None:
        return model.base_model_prefix if model.base_model_prefix in returned else ""
    path = next(name for name, module in model.named_modules() if module is attention)
    names = path.split(".")
    around = (".".join(names[:count]) for count in range(1, len(names)))
    return next((name for name in around if name in returned), "")


class _Body(torch.nn.Module):
    """Stands for the body of a model in one pass: runs it at the first call, and returns its output
    with the hidden states from row `first` to the one before `end`, at first of the last block."""

    def __init__(self, body: Any, head: OutputHead) -> None:
        super().__init__()
        self.step, self.first, self.end = 0, 0, 0
        self._body = (body,)  # no module of this one
        self._head = head
        self._output: Any = None

    def __getattr__(self, name: str) -> Any:
        """Whatever else the model reads from its body."""
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
        self.first = (self.end - 1) // self.step * self.step
        kept = {name: value for name, value in output.items() if isinstance(value, Tensor)}
        self._output = type(output)(**kept)  # without a cache
        return self._rows(output)

    def _rows(self, output: Any) -> Any:
        states = output[_STATES][:, self.first : self.end]
        return type(output)(**{**output, _STATES: states})


def _with_body(model: Any, path: Sequence[str], body: _Body) -> Any:
    """A copy of `model` that shares its modules, with `body` at `path`."""
    stand_in = copy.copy(model)
    stand_in.__dict__.pop("forward", None)  # bound to the model itself, where Accelerate places it
    name, *inner = path
    new = _with_body(model.get_submodule(name), inner, body) if inner else body
    stand_in.__dict__["_modules"] = {**model._modules, name: new}
    return stand_in
