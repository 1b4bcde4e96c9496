"""The library's model with the weights of a directory, and the missing and unused weights.

The library fills missing weights with random numbers, and ignores weights that have no place in
the model. Here both are named.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from explorer.core.errors import ExplorerError, ModelDirectoryError
from explorer.model.huggingface.config_faults import build_fault
from explorer.model.huggingface.other_contents import are_packed, quantised
from explorer.model.huggingface.weight_sizes import sizes_within
from explorer.model.wrapped_names import WRAPPERS, are_wrapped

LOCAL = {"local_files_only": True, "trust_remote_code": False}  # unset, the latter asks on stdin

_SHOWN = 6  # names in a message
_POOLER = "pooler."  # of a body alone; nothing shown here depends on it
_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")
"""Number of a layer or an expert in the name of a weight."""


@dataclass(frozen=True)
class Loaded:
    """A model as the library loaded it.

    absent: names of its weights that the files lack; their values are random.
    unused: names of weights in the files that the model does not have.
    """

    model: Any
    absent: Sequence[str]
    unused: Sequence[str]

    @property
    def lacks_head_alone(self) -> bool:
        """Whether all absent weights belong to layers after the body, such as the output head."""
        whole, body = self.model, self.model.base_model
        embeddings = whole.get_output_embeddings()
        behind = {
            name
            for name, part in whole.named_children()
            if part is embeddings or (body is not whole and part is not body)
        }
        return all(name.split(".")[0] in behind for name in self.absent)

    @property
    def undescribed(self) -> list[str]:
        """Names in `unused` that belong to layers of the body: a layer number or a weight that it
        does not have. They show that the config is another model's."""
        prefix = f"{self.model.base_model_prefix}."

        def kind(name: str) -> str:
            return _NUMBER.sub("#", name.removeprefix(prefix))

        modules = self.model.base_model.named_modules()
        own = {kind(name) for name, module in modules if [*module.parameters(recurse=False)]}
        return [name for name in self.unused if kind(name.rpartition(".")[0]) in own]


@dataclass(frozen=True)
class StoredWeights:
    """The weights in a directory.

    described: config.json. config: the library's. options: the library's, such as dtype and
        device_map.
    """

    path: Path
    files: Sequence[Path]
    described: Mapping[str, Any]
    config: Any
    options: Mapping[str, Any]

    def into(self, model_class: Any) -> Loaded:
        """A model of `model_class` with the weights. Raises `ModelDirectoryError`."""
        loaded = self._loaded(model_class, {})
        if loaded.absent and are_wrapped(loaded.unused):
            return self._loaded(model_class, {"key_mapping": {WRAPPERS.pattern: ""}})
        if loaded.absent and all(name.startswith(_POOLER) for name in loaded.absent):
            return self._loaded(model_class, {"add_pooling_layer": False})
        return loaded

    def widened(self, loaded: Loaded) -> Loaded:
        """`loaded`, or a model of the class for pre-training, which has more heads.

        The latter if `loaded` has unused weights and the files have all weights of that class.
        """
        stem = type(loaded.model).__name__.split("For")[0]
        wider = getattr(transformers, f"{stem}ForPreTraining", None)
        if not loaded.unused or not isinstance(wider, type) or isinstance(loaded.model, wider):
            return loaded
        try:
            more = self.into(wider)
        except ModelDirectoryError:
            return loaded
        return loaded if more.absent else more

    def refuse_absent(self, loaded: Loaded) -> None:
        """Raise `ModelDirectoryError` if weights are absent."""
        if loaded.absent:
            lacking = ModelDirectoryError("missing_weights", **_names(loaded.absent))
            raise quantised(self.path, self.described, loaded.unused) or lacking

    def note_unused(self, loaded: Loaded) -> ModelDirectoryError | None:
        """Note on unused weights, or None. Raises `ModelDirectoryError` if the model would compute
        something else without them."""
        if not loaded.unused:
            return None
        packed = quantised(self.path, self.described, loaded.unused)
        if packed and are_packed(loaded.unused):
            raise packed
        if undescribed := loaded.undescribed:
            raise ModelDirectoryError("unexpected_weights", **_names(undescribed))
        named = {"model_class": type(loaded.model).__name__, **_names(loaded.unused)}
        return ModelDirectoryError("unused_weights", **named)

    def _loaded(self, model_class: Any, more: Mapping[str, Any]) -> Loaded:
        level = transformers.logging.get_verbosity()
        bar = transformers.logging.is_progress_bar_enabled()
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        try:
            with sizes_within(self.path, self.files):
                model, told = model_class.from_pretrained(
                    str(self.path),
                    use_safetensors=self.files[0].suffix == ".safetensors",
                    attn_implementation="eager",
                    output_loading_info=True,
                    **self.options,
                    **more,
                    **LOCAL,
                )
        except ExplorerError:
            raise
        except Exception as error:
            raise self._fault(model_class, error) from error
        finally:
            transformers.logging.set_verbosity(level)
            if bar:
                transformers.logging.enable_progress_bar()
        if "quantization_config" in self.described:
            _in_one_type(model, self.options.get("dtype"))
        other = {str(one[0]) for one in told["mismatched_keys"]}
        absent = sorted({*told["missing_keys"], *other})
        return Loaded(model, absent, sorted(told["unexpected_keys"]))

    def _fault(self, model_class: Any, error: Exception) -> ModelDirectoryError:
        """Error to raise in place of the library's `error`."""
        reason = str(error).strip().split("\n")[0][:160] or type(error).__name__
        told_by = str(error).lower()
        key = "cannot_place" if "device_map" in self.options else "damaged_weights"
        if "weights only" in told_by or "weights_only" in told_by:
            key = "code_in_weights"
        elif "ignore_mismatched_sizes" in told_by:
            key = "other_sizes"
        elif packed := quantised(self.path, self.described):
            return packed
        elif fault := self._build_fault(model_class):
            return fault
        return ModelDirectoryError(key, name=self.path.name, reason=reason)

    def _build_fault(self, model_class: Any) -> ModelDirectoryError | None:
        with sizes_within(self.path, self.files):
            return build_fault(self.path.name, self.described, model_class, self.config)


def _in_one_type(model: Any, dtype: torch.dtype | None) -> None:
    """Give weights that the library has dequantised from FP8 the dtype of the others; layers cannot
    compute with mixed dtypes."""
    types = {one.dtype for one in model.parameters()}
    if (
        dtype is not None
        and len(types) > 1
        and types <= {torch.float32, torch.bfloat16, torch.float16}
    ):
        model.to(dtype)


def _names(names: Sequence[str]) -> dict[str, object]:
    more = " …" if len(names) > _SHOWN else ""
    return {"count": len(names), "names": ", ".join(names[:_SHOWN]) + more}
