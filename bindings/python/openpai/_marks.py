"""How GPUs are marked in pictures."""
from typing import (
    Iterator, Mapping, Optional, Sequence, SupportsIndex, Tuple, Union)

from ._values import words

#: Who uses a GPU; None: it is free; or its state, "free", "used" or "sick",
#: and a text: who uses it, or why it is sick.
Mark = Union[str, None, Tuple[str, str]]

#: Of a machine: a mark for each GPU in their order, or {number: mark}.
Marks = Union[Sequence[Mark], Mapping[int, Mark]]

#: Of a cluster: a mark for each GPU, node by node, or
#: {(node's name, GPU's number there): mark}.
ClusterMarks = Union[Sequence[Mark], Mapping[Tuple[str, int], Mark]]


def _mark(mark: object) -> Tuple[str, str]:
    if mark is None:
        return "free", ""
    if isinstance(mark, str):
        return "used", mark
    if (isinstance(mark, tuple) and len(mark) == 2 and
            all(isinstance(part, str) for part in mark)):
        return mark[0], mark[1]
    raise TypeError("a mark is a str, None or (state, text), not %r" % (mark,))


def _place(key: object) -> Tuple[str, str]:
    node, gpu = key if isinstance(key, tuple) and len(key) == 2 else ("", key)
    if not isinstance(node, str) or not isinstance(gpu, SupportsIndex):
        raise TypeError("what is marked is a GPU's number, or a node's name "
                        "and that, not %r" % (key,))
    return node, str(gpu.__index__())


def _pairs(marks: Union[Marks, ClusterMarks]
           ) -> Iterator[Tuple[object, object]]:
    if isinstance(marks, Mapping):
        return iter(marks.items())
    if isinstance(marks, (str, bytes)):
        raise TypeError("marks are a list or a dict, not %r" % (marks,))
    return enumerate(marks)


def encoded(marks: Union[Marks, ClusterMarks, None]) -> bytes:
    """Four words a mark, as the facade wants them."""
    if marks is None:
        return b""
    return words(word for key, mark in _pairs(marks)
                 for word in _place(key) + _mark(mark))
