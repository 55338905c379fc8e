"""What classes of several modules have in common."""
from types import TracebackType
from typing import (
    Generic, Optional, Sequence, Tuple, Type, TypeVar, Union, overload)

_T = TypeVar("_T")
_Self = TypeVar("_Self", bound="Closes")
_Copy = TypeVar("_Copy", bound="Copied")
_Same = TypeVar("_Same", bound="Immutable")


class Closes:
    """Closed at the end of a `with` block."""
    __slots__ = ()

    def close(self) -> None:
        """Frees what it has."""
        raise NotImplementedError

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, exc_type: Optional[Type[BaseException]],
                 exc: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


class Immutable:
    """Its own copy."""
    __slots__ = ()

    def __copy__(self: _Same) -> _Same:
        return self

    def __deepcopy__(self: _Same, memo: object) -> _Same:
        return self


class Copied:
    """Copied by copy()."""
    __slots__ = ()

    def copy(self: _Copy) -> _Copy:
        """Another one with the same content."""
        raise NotImplementedError

    def __copy__(self: _Copy) -> _Copy:
        return self.copy()

    def __deepcopy__(self: _Copy, memo: object) -> _Copy:
        return self.copy()


class Listed(Sequence[_T], Generic[_T]):
    """A sequence of what is in `_all`."""
    __slots__ = ("_all",)
    _all: Tuple[_T, ...]

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> Tuple[_T, ...]: ...

    def __getitem__(self, index: Union[int, slice]
                    ) -> Union[_T, Tuple[_T, ...]]:
        return self._all[index]
