"""The OpenAPI document, built from the table of routes and the types. Nothing in it is written twice."""

from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from handraise.api import schemas
from handraise.api.asks import UNIONS
from handraise.api.requests import Route
from handraise.api.schemas import REFERENCE
from handraise.model import asks, items

_IN_FEED = (*get_args(items.Content), *get_args(asks.Body), items.Preview, schemas.Reset)
"""The types of items and ask bodies; their names start with `Feed`."""

_WAITING = 202


def document(routes: Sequence[Route], version: str, cookie: str = "handraise") -> dict[str, Any]:
    """The whole API."""
    used = {shape for route in routes for shape in (route.body, route.returns) if shape is not None} | {
        schemas.FailedSchema,
        schemas.WaitingSchema,
    }
    used |= {shape for alternatives in UNIONS.values() for shape in alternatives}
    ordered = sorted(used, key=lambda shape: shape.__name__)
    references, components = msgspec.json.schema_components(ordered, ref_template=REFERENCE + "{name}")
    by_shape = dict(zip(ordered, references, strict=True))
    for name, alternatives in UNIONS.items():
        components[name] = {"title": name, "anyOf": [by_shape[shape] for shape in alternatives]}
    components |= _feed_components()
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_shape)
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "Handraise", "version": version},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": cookie},
            },
        },
    }
    named: dict[str, Any] = _without_suffix(whole)
    return named


def _without_suffix(value: Any) -> Any:  # noqa: ANN401 (any part of a JSON document)
    """Types that share their name with a noun of the model end in `Schema` in the code, but not in the document."""
    if isinstance(value, dict):
        return {key.removesuffix("Schema"): _without_suffix(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_suffix(each) for each in value]
    return value.removesuffix("Schema") if isinstance(value, str) else value


def _feed_components() -> dict[str, Any]:
    _, in_feed = msgspec.json.schema_components(_IN_FEED, ref_template=f"{REFERENCE}Feed{{name}}")
    in_feed["ActionStarted"]["properties"]["traits"] = {"$ref": f"{REFERENCE}ToolTraits"}
    in_feed["ActionStarted"]["properties"]["size"] = {"type": "string"}
    for name in ("ActionStarted", "ActionChanged"):
        in_feed[name]["properties"]["cut"] = {"type": "boolean", "default": False}
    in_feed["AskOpened"]["properties"]["ask"] = {"$ref": f"{REFERENCE}Ask"}
    in_feed["MachineChanged"]["properties"]["machine"] = {"$ref": f"{REFERENCE}Machine"}
    settled = in_feed["AskSettled"]["properties"]
    settled["settlement"] = {"$ref": f"{REFERENCE}Settlement"}
    settled["outcome"] = {"$ref": f"{REFERENCE}CardOutcome"}
    return {f"Feed{name}": schema for name, schema in in_feed.items()}


def _operation(route: Route, by_shape: dict[Any, Any]) -> dict[str, Any]:
    names = [piece[1:-1] for piece in route.path.split("/") if piece.startswith("{")]
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
    ]
    for each in route.parameters:
        schema: dict[str, Any] = {"type": each.kind}
        if each.choices:
            schema["enum"] = list(each.choices)
        if each.form:
            schema["format"] = each.form
        if each.kind == "integer":
            schema |= {"minimum": each.least, "maximum": each.most}
        parameters.append({"name": each.name, "in": "query", "description": each.description, "schema": schema})
    content = {route.media: {"schema": by_shape[route.returns]} if route.returns else {}}
    if route.alternate_media:
        content[route.alternate_media] = {}
    refusal = {"description": "Error", "content": {"application/json": {"schema": by_shape[schemas.FailedSchema]}}}
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": f"{route.method.lower()}{route.path.replace('/', '_').replace('{', '').replace('}', '')}",
        "parameters": parameters,
        "responses": {str(route.status): {"description": "Success", "content": content}, "default": refusal},
        "x-role": route.role,
    }
    if route.alternate_status is not None:
        operation["responses"][str(route.alternate_status)] = {
            "description": "The sign-in page",
            "content": {route.media: {}},
        }
    if route.may_wait:
        shapes = [schemas.WaitingSchema, *([route.returns] if route.returns and route.status == _WAITING else [])]
        operation["responses"][str(_WAITING)] = {
            "description": "Success, or stored until the session's machine returns",
            "content": {route.media: {"schema": {"anyOf": [by_shape[shape] for shape in shapes]}}},
        }
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": by_shape[route.body]}}}
    if route.role is not None:
        operation["security"] = [{"token": []}, {"cookie": []}]
    return operation
