"""Which reader takes a file, and why a file is left."""

from __future__ import annotations

import fnmatch
from pathlib import Path

from .jsonl import holds_samples
from .jsonrows import parse
from .protocol import Reader
from .registry import all_readers
from .table import lacks_header
from .textfile import head_lines

LIKELY = 0.5
"""A file in a folder is read from this score on; a file that is named by itself is read at any."""
LAST_RESORT = 0.4
"""In a folder where nothing is likely, text is read from this score on."""
WEIGHTS = frozenset(
    {".pt", ".pth", ".bin", ".safetensors", ".ckpt", ".zip", ".h5", ".onnx", ".gguf", ".msgpack", ".npy", ".tar", ".gz"}
)
PICKLES = frozenset({".pkl", ".pickle", ".joblib"})
PROSE = frozenset({".md", ".rst", ".py", ".sh", ".lock", ".toml", ".diff", ".patch", ".ipynb", ".html"})
MEDIA = frozenset({".png", ".jpg", ".jpeg", ".gif", ".mp4", ".svg", ".pdf"})
SAMPLE_PATTERNS = ("completions*.parquet", "completions*.jsonl", "traces.jsonl", "*rollouts*.jsonl")
UNKNOWN = "no known log format"
UNSNIFFED = WEIGHTS | PICKLES | PROSE | MEDIA


def choose(path: Path) -> tuple[float, Reader] | None:
    """Return the reader that is surest of `path`, with its score; None where none takes it at all."""
    if path.suffix in UNSNIFFED:
        return None
    best: tuple[float, int, str] = (0.0, 0, "")
    chosen: Reader | None = None
    for reader in all_readers():
        if reader.folders:
            continue
        score = reader.sniff(path)
        if score > 0.0 and (score, reader.rank, reader.name) > best:
            best, chosen = (score, reader.rank, reader.name), reader
    return (best[0], chosen) if chosen is not None else None


def is_samples(path: Path, chosen: tuple[float, Reader] | None) -> bool:
    """Whether `path` holds behaviour samples: completions or rollouts, by name or by its first row."""
    if any(fnmatch.fnmatch(path.name, pattern) for pattern in SAMPLE_PATTERNS):
        return True
    if chosen is None or chosen[1].name != "jsonl" or path.suffix != ".jsonl":
        return False
    lines = head_lines(path)
    row = parse(lines[0]) if lines else None
    return row is not None and holds_samples(row)


def reason_left(path: Path, chosen: tuple[float, Reader] | None) -> str:
    """Say why the file `path` was not read."""
    if path.name == "training_args.bin":
        return "a pickle, which may run code when opened; save the arguments as JSON or YAML to have them read"
    if path.suffix in PICKLES:
        return "a pickle, which may run code when opened; never read"
    if path.suffix in WEIGHTS:
        return "weights or an archive; never opened"
    if path.suffix in PROSE or path.suffix in MEDIA:
        return "text, code or media, not a log"
    if lacks_header(path):
        return "a table without a header; name its columns in the first line (step,reward,loss)"
    if chosen is not None and chosen[1].name == "console":
        return "printed lines beside a log; name the file itself to read it"
    if chosen is not None:
        return f"might be {chosen[1].title}, but has no step column; name the file itself to read it"
    try:
        with path.open("rb") as stream:
            empty = not stream.read(1)
    except OSError as error:
        return f"cannot be read ({error.strerror or type(error).__name__})"
    return "empty" if empty else UNKNOWN
