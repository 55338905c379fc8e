"""How GPUs are marked in pictures."""
from typing import Iterator, Mapping, Sequence, SupportsIndex, Tuple, Union

from ._values import words

#: A GPU's user; None: it is free; or "free", "used" or "sick" with a text: the
#: user, or why the GPU is sick.
Mark = Union[str, None, Tuple[str, str]]

#: Marks of a machine: in the order of its GPUs, or {number: mark}.
Marks = Union[Sequence[Mark], Mapping[int, Mark]]

#: Marks of a cluster: in the order of its GPUs, node by node, or {(node name,
#: GPU number in the node): mark}.
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
