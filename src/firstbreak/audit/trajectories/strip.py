"""Frames of an episode side by side as a PNG, written with zlib alone."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from .trajectory import Frames

SHOWN = 8
"""Frames of a strip."""
HEIGHT = 96
"""Of a strip, in pixels, at most."""


def frame_strip(frames: Frames, shown: int = SHOWN, height: int = HEIGHT) -> bytes:
    """Return a PNG of some frames side by side, the first and the last among them.

    Args:
        frames: [T, height, width, 3].
        shown: Most frames in it.
        height: Larger frames are made smaller by leaving out rows and columns.
    """
    picks = np.unique(np.linspace(0, len(frames) - 1, min(shown, len(frames))).round().astype(int))
    step = max(1, -(-frames.shape[1] // height))
    return png(np.concatenate([frames[i, ::step, ::step] for i in picks], axis=1))


def png(picture: Frames) -> bytes:
    """Return a picture [height, width, 3] as a PNG of eight bits (ISO/IEC 15948, filter 0)."""
    height, width = picture.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = picture.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
