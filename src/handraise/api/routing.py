"""Finds the route for a path, in as many steps as the path has segments, however many routes there are. Pure."""

from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar


class Routable(Protocol):
    """A path's segment in braces matches any one that isn't empty."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...


R = TypeVar("R", bound=Routable)


class RouteMatch(NamedTuple, Generic[R]):
    """A route, and the values of its path's parameters."""

    route: R
    values: dict[str, str]


class RouteTable(Generic[R]):
    """Where several routes match, the first one counts."""

    def __init__(self, routes: Sequence[R]) -> None:
        self._root: _Branch[R] = _Branch()
        for number, route in enumerate(routes):
            branch = self._root
            for segment in route.path.split("/"):
                branch = branch.grow("" if segment.startswith("{") else segment, is_any=segment.startswith("{"))
            branch.ends.append((number, route))

    def __iter__(self) -> Iterator[R]:
        """Everything that can be found."""
        return self._root.all()

    def find(self, method: str, path: str) -> RouteMatch[R] | None:
        """HEAD is a method like any other: it must not use up a one-time code or hold a stream open."""
        segments = path.split("/")
        ends = [end for end in self._root.reach(segments, 0) if end[1].method == method]
        if not ends:
            return None
        _, route = min(ends, key=lambda end: end[0])
        names = route.path.split("/")
        values = {name[1:-1]: segment for name, segment in zip(names, segments, strict=True) if name.startswith("{")}
        return RouteMatch(route, values)

    def methods(self, path: str) -> list[str]:
        """All methods of a path: several routes may share it, each with its own."""
        return sorted({route.method for _, route in self._root.reach(path.split("/"), 0)})


class _Branch(Generic[R]):
    def __init__(self) -> None:
        self._exact: dict[str, _Branch[R]] = {}
        self._any: _Branch[R] | None = None
        self.ends: list[tuple[int, R]] = []

    def grow(self, segment: str, *, is_any: bool) -> "_Branch[R]":
        if not is_any:
            return self._exact.setdefault(segment, _Branch())
        self._any = self._any or _Branch()
        return self._any

    def all(self) -> Iterator[R]:
        yield from (route for _, route in self.ends)
        for branch in (*self._exact.values(), *([self._any] if self._any else [])):
            yield from branch.all()

    def reach(self, segments: Sequence[str], place: int) -> Iterator[tuple[int, R]]:
        if place == len(segments):
            yield from self.ends
            return
        exact = self._exact.get(segments[place])
        if exact is not None:
            yield from exact.reach(segments, place + 1)
        if self._any is not None and segments[place]:
            yield from self._any.reach(segments, place + 1)
