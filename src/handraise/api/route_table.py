"""Finds the route of a request by its path, segment by segment. Knows nothing of HTTP beyond paths and methods."""

from collections.abc import Iterator, Sequence

from handraise.api.requests import Route

Found = tuple[Route, dict[str, str]]
"""A route, and the segments of the path that it names."""


class RouteTable:
    """Routes by path: `/api/asks/{id}` stands for any one segment that isn't empty. An exact path comes first."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._root = _Segment()
        for route in routes:
            self._root.add(route)

    def find(self, path: str) -> dict[str, Found]:
        """The routes of this path by their methods; empty if there are none."""
        found: dict[str, Found] = {}
        segments = path.split("/")
        for end in self._root.ends(segments, 0):
            for method, route in end.routes.items():
                found.setdefault(method, (route, _named(route, segments)))
        return found


class _Segment:
    """What may follow after some segments of a path."""

    __slots__ = ("any", "exact", "routes")

    def __init__(self) -> None:
        self.exact: dict[str, _Segment] = {}
        self.any: _Segment | None = None
        self.routes: dict[str, Route] = {}
        """The routes that end here, by their methods."""

    def add(self, route: Route) -> None:
        here = self
        for piece in route.path.split("/"):
            if piece.startswith("{"):
                here.any = here.any or _Segment()
                here = here.any
            else:
                here = here.exact.setdefault(piece, _Segment())
        here.routes.setdefault(route.method, route)

    def ends(self, segments: list[str], at: int) -> "Iterator[_Segment]":
        """Every place in the table that these segments lead to, the most exact first."""
        if at == len(segments):
            yield self
            return
        exact = self.exact.get(segments[at])
        if exact is not None:
            yield from exact.ends(segments, at + 1)
        if self.any is not None and segments[at]:
            yield from self.any.ends(segments, at + 1)


def _named(route: Route, segments: list[str]) -> dict[str, str]:
    pieces = zip(route.path.split("/"), segments, strict=True)
    return {piece[1:-1]: segment for piece, segment in pieces if piece.startswith("{")}
