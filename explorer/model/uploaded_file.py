"""Read the file that a visitor uploads: a checkpoint or a trace."""

from hashlib import sha256
from pathlib import Path

from explorer.core.sentencepiece_check import refuse_harmful
from explorer.core.trace import Trace
from explorer.core.trace_file import LARGEST_UPLOADED
from explorer.core.vocabulary import shorten
from explorer.model.catalog import Upload, UploadedModel, UploadedTrace
from explorer.model.checkpoint import from_bytes, piece_models
from explorer.model.explorable import ExplorableModel

TRACE_SUFFIX = ".trace"


def read_upload(file_name: str, data: bytes) -> Upload:
    """The model in an uploaded file or, if its name ends with ".trace", the trace.

    Raises `CheckpointError`, `VocabularyError`, `TraceError`.
    """
    shown = shorten(Path(file_name).name)
    stem = shorten(Path(file_name).stem) or "upload"
    stamp = sha256(data).hexdigest()
    if file_name.lower().endswith(TRACE_SUFFIX):
        trace = Trace.from_bytes(data, shown, limit=LARGEST_UPLOADED)
        return UploadedTrace(f"{stem}{TRACE_SUFFIX}", stamp, trace)
    for proto in piece_models(data, shown):
        refuse_harmful(proto, shown)
    checkpoint = from_bytes(data, shown)
    return UploadedModel(stem, stamp, checkpoint.summary, ExplorableModel(checkpoint, stem))
