"""The OpenAPI document, made of the table of ways and the shapes. Nothing in it is written twice."""

from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from handraise.desk.interface import Partial
from handraise.model import asks, items
from handraise.surfaces.web import shapes
from handraise.surfaces.web.ask_shapes import REFERENCE, UNIONS
from handraise.surfaces.web.visit import Way

_IN_FEED = (*get_args(items.Content), *get_args(asks.Body), Partial, shapes.Reset)
"""What items and the bodies of asks are made of; their names begin with `Feed`."""


def document(ways: Sequence[Way], version: str, cookie: str = "handraise") -> dict[str, Any]:
    """The whole API."""
    used = {shape for way in ways for shape in (way.takes, way.gives) if shape is not None} | {shapes.Failed}
    used |= {shape for alternatives in UNIONS.values() for shape in alternatives}
    ordered = sorted(used, key=lambda shape: shape.__name__)
    references, components = msgspec.json.schema_components(ordered, ref_template=REFERENCE + "{name}")
    by_shape = dict(zip(ordered, references, strict=True))
    for name, alternatives in UNIONS.items():
        components[name] = {"title": name, "anyOf": [by_shape[shape] for shape in alternatives]}
    components |= _feed_components()
    paths: dict[str, Any] = {}
    for way in ways:
        paths.setdefault(way.path, {})[way.method.lower()] = _operation(way, by_shape)
    return {
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


def _feed_components() -> dict[str, Any]:
    _, in_feed = msgspec.json.schema_components(_IN_FEED, ref_template=f"{REFERENCE}Feed{{name}}")
    in_feed["AskOpened"]["properties"]["ask"] = {"$ref": f"{REFERENCE}Ask"}
    in_feed["AskSettled"]["properties"]["settlement"] = {"$ref": f"{REFERENCE}Settlement"}
    return {f"Feed{name}": schema for name, schema in in_feed.items()}


def _operation(way: Way, by_shape: dict[Any, Any]) -> dict[str, Any]:
    names = [piece[1:-1] for piece in way.path.split("/") if piece.startswith("{")]
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
    ]
    for each in way.parameters:
        schema: dict[str, Any] = {"type": each.kind}
        if each.choices:
            schema["enum"] = list(each.choices)
        if each.form:
            schema["format"] = each.form
        if each.kind == "integer":
            schema |= {"minimum": each.least, "maximum": each.most}
        parameters.append({"name": each.name, "in": "query", "description": each.says, "schema": schema})
    content = {way.media: {"schema": by_shape[way.gives]} if way.gives else {}}
    if way.or_media:
        content[way.or_media] = {}
    refusal = {"description": "why not", "content": {"application/json": {"schema": by_shape[shapes.Failed]}}}
    operation: dict[str, Any] = {
        "summary": way.says,
        "operationId": f"{way.method.lower()}{way.path.replace('/', '_').replace('{', '').replace('}', '')}",
        "parameters": parameters,
        "responses": {str(way.status): {"description": "done", "content": content}, "default": refusal},
        "x-role": way.role,
    }
    if way.or_status is not None:
        operation["responses"][str(way.or_status)] = {"description": "the page", "content": {way.media: {}}}
    if way.takes is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": by_shape[way.takes]}}}
    if way.role is not None:
        operation["security"] = [{"token": []}, {"cookie": []}]
    return operation
