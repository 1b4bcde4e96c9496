"""Fetch a model from the hub of the library transformers into its cache, if a person asks for it.

Only the files that are read here are fetched, no code.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.directory_files import CONFIG, tokenizer_among

_WEIGHTS = (  # the first kind that has files is fetched
    (r"model\.safetensors",),
    (r"model-\d+-of-\d+\.safetensors", r"model\.safetensors\.index\.json"),
    (r"pytorch_model\.bin",),
    (r"pytorch_model-\d+-of-\d+\.bin", r"pytorch_model\.bin\.index\.json"),
)
_ADAPTERS = (r"adapter_model\.safetensors",), (r"adapter_model\.bin",)
_SMALL = (
    *(CONFIG, "generation_config.json", "adapter_config.json", "added_tokens.json"),
    *("chat_template.j*", "additional_chat_templates/*.jinja", "*.tiktoken"),
)


def needed_files(names: Iterable[str]) -> list[str]:
    """The files of a repository that are read here: config, tokenizer, and weights as safetensors,
    else as pickles."""
    listed = sorted(names)
    near = [name for name in listed if "/" not in name]
    small = {name for name in listed if any(fnmatchcase(name, one) for one in _SMALL)}
    return sorted(
        {*small, *tokenizer_among(near), *_first(_WEIGHTS, near), *_first(_ADAPTERS, near)}
    )


def _first(kinds: Iterable[tuple[str, ...]], names: list[str]) -> list[str]:
    for kind in kinds:
        if found := [name for name in names if any(re.fullmatch(one, name) for one in kind)]:
            return found
    return []


def download(name: str) -> Path:
    """Fetch the files of the model `name` that are read here. Returns its snapshot in the cache.

    Files in the cache are not fetched again.

    Raises `ModelDirectoryError` if the hub cannot be reached, has no such model, or denies access
    to it.
    """
    # Imported late: it comes with the library, which need not be installed.
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError

    try:
        files = [file.rfilename for file in HfApi().model_info(name).siblings or ()]
        return Path(snapshot_download(name, allow_patterns=needed_files(files)))
    except HfHubHTTPError as error:
        status = error.response.status_code
        if isinstance(error, GatedRepoError) or status in (401, 403):
            raise ModelDirectoryError("hub_gated", name=name, status=status) from error
        if status == 404:
            raise ModelDirectoryError("hub_missing", name=name) from error
        raise ModelDirectoryError("hub_failed", name=name, reason=f"HTTP {status}") from error
    except Exception as error:  # errors of the network, the file system and the library
        reason = str(error).strip().split("\n")[0][:160] or type(error).__name__
        raise ModelDirectoryError("hub_failed", name=name, reason=reason) from error
