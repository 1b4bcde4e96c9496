"""Write a model trained here for other libraries."""

from pathlib import Path

from explorer.core.errors import ModelDirectoryError
from explorer.core.files import as_path
from explorer.model.explorable import ExplorableModel
from explorer.model.opening import EXTRA, has_library


def export_huggingface(model: ExplorableModel, path: str | Path) -> float:
    """Write `model` to the directory `path` for the library transformers: a model with the same
    logits, with a tokenizer that gives the same ids, which `explorer.load` opens again.

    Returns the largest difference of a logit, measured before writing; at most 1e-4.

    Raises `ModelDirectoryError` if the library has no class for the model (for example with two
    vocabularies), if the directory is not empty, or without the library. Raises `FileError`.
    """
    folder = as_path(path)
    if not isinstance(model, ExplorableModel):
        raise ModelDirectoryError("export_other", got=type(model).__name__)
    if not has_library():
        raise ModelDirectoryError("export_not_installed", command=EXTRA)
    # Imported late: the library takes a second, and need not be installed.
    from explorer.model.huggingface.export import export_directory

    return export_directory(model, folder)
