"""The tensors of an ONNX file, without a library for the rest of the format.

Reads one known file, whose hash is compared before. Written against `onnx.proto` (ModelProto.graph is field 7,
GraphProto.initializer field 5; of TensorProto dims is 1, data_type 2, name 8, raw_data 9).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from backstory.errors import BackstoryError, Exit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GRAPH, _INITIALIZER = 7, 5
_DIMENSIONS, _TYPE, _NAME, _RAW = 1, 2, 8, 9
_TYPES = {1: "<f4", 3: "i1"}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def tensors(data: bytes) -> dict[str, NDArray[np.generic]]:
    """Every tensor of 32-bit floats or 8-bit integers, by name; views into `data`. `BackstoryError` for other bytes."""
    found = {}
    try:
        for graph in _all(memoryview(data), _GRAPH):
            for tensor in _all(graph, _INITIALIZER):
                made = _tensor(tensor)
                if made is not None:
                    found[made[0]] = made[1]
    except (IndexError, ValueError, KeyError) as exc:
        raise BackstoryError("The file of the embedding model is no ONNX file.", code=Exit.FAULT) from exc
    return found


def _tensor(data: memoryview) -> tuple[str, NDArray[np.generic]] | None:
    import numpy as np

    shape: list[int] = []
    kind, name, raw = 0, "", memoryview(b"")
    for field, value in _fields(data):
        if field == _DIMENSIONS:
            shape += [value] if isinstance(value, int) else _packed(value)
        elif field == _TYPE and isinstance(value, int):
            kind = value
        elif field == _NAME and not isinstance(value, int):
            name = str(value, "utf-8")
        elif field == _RAW and not isinstance(value, int):
            raw = value
    if kind not in _TYPES:
        return None
    return name, np.frombuffer(raw, _TYPES[kind]).reshape(shape)


def _all(data: memoryview, wanted: int) -> Iterator[memoryview]:
    for field, value in _fields(data):
        if field == wanted and not isinstance(value, int):
            yield value


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        kind = key & 7
        if kind == _VARINT:
            number, place = _varint(data, place)
            yield key >> 3, number
            continue
        if kind == _BYTES:
            length, place = _varint(data, place)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}[kind]
        if place + length > len(data):
            raise ValueError("a field ends after its message")
        yield key >> 3, data[place : place + length]
        place += length


def _packed(data: memoryview) -> list[int]:
    numbers, place = [], 0
    while place < len(data):
        number, place = _varint(data, place)
        numbers.append(number)
    return numbers


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
