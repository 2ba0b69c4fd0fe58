"""The table of routes: parameters, methods, and which of several routes counts."""

from typing import NamedTuple

from handraise.api.routing import RouteTable


class ARoute(NamedTuple):
    method: str
    path: str


ONE = ARoute("GET", "/api/asks/{id}")
ANSWER = ARoute("POST", "/api/asks/{id}/answer")
PART = ARoute("GET", "/api/asks/{id}/evidence/{number}")
NAMED = ARoute("GET", "/api/asks/newest")
REMOVE = ARoute("DELETE", "/api/asks/{id}")
TABLE = RouteTable([NAMED, ONE, ANSWER, PART, REMOVE])


def test_a_path_has_values_for_its_parameters() -> None:
    assert TABLE.find("POST", "/api/asks/a_1/answer") == (ANSWER, {"id": "a_1"})
    assert TABLE.find("GET", "/api/asks/a_1/evidence/2") == (PART, {"id": "a_1", "number": "2"})


def test_everything_in_the_table_can_be_found() -> None:
    assert sorted(TABLE) == sorted([ONE, ANSWER, PART, NAMED, REMOVE])


def test_the_first_of_several_routes_counts() -> None:
    assert TABLE.find("GET", "/api/asks/newest") == (NAMED, {})
    later = RouteTable([ONE, NAMED])
    assert later.find("GET", "/api/asks/newest") == (ONE, {"id": "newest"})


def test_a_route_with_another_method_does_not_hide_one_that_fits() -> None:
    assert TABLE.find("DELETE", "/api/asks/newest") == (REMOVE, {"id": "newest"})


def test_a_parameter_is_one_segment_and_never_empty() -> None:
    for path in (
        "/api/asks/",
        "/api/asks//answer",
        "/api/asks/a/b/answer",
        "/api/asks/a/answer/",
        "api/asks/a",
        "",
        "/",
    ):
        assert TABLE.find("POST", path) is None
        assert TABLE.methods(path) == []


def test_a_path_knows_its_methods_and_head_is_not_get() -> None:
    assert TABLE.methods("/api/asks/a_1") == ["DELETE", "GET"]
    assert TABLE.find("HEAD", "/api/asks/a_1") is None
