"""Asks and actions with their longest texts cut, for clients that fetch the rest when a person looks at it. Pure."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from handraise.present.cards import Card
from handraise.present.diffs import EXCERPT, excerpt
from handraise.present.evidence import Evidence


def cut_ask(shown: Mapping[str, Any], card: Card) -> dict[str, Any]:
    """An ask as the API shows it. `cut`: texts of its input or its diff are excerpts. Other evidence is whole."""
    if shown["kind"] != "permission":
        return {**shown, "card": card}
    body = shown["body"]
    before = body.get("diff")
    fields, diff = cut_texts(body["input"]), before and excerpt(before)
    evidence = tuple(_cut_evidence(each) for each in card.evidence)
    if fields == body["input"] and diff == before and evidence == card.evidence:
        return {**shown, "card": card}
    return {
        **shown,
        "body": {**body, "input": fields, "diff": diff},
        "card": replace(card, evidence=evidence),
        "cut": True,
    }


def cut_action(content: Mapping[str, Any]) -> dict[str, Any]:
    """An item about an action. `cut` says that texts of its input are excerpts."""
    fields = cut_texts(content["input"])
    return dict(content) if fields == content["input"] else {**content, "input": fields, "cut": True}


def cut_texts(value: Any) -> Any:  # noqa: ANN401 (any JSON)
    """JSON with its longest texts cut."""
    match value:
        case str():
            return value if len(value) <= EXCERPT else excerpt(value) or value[:EXCERPT]
        case Mapping():
            return {key: cut_texts(each) for key, each in value.items()}
        case list() | tuple():
            return [cut_texts(each) for each in value]
        case _:
            return value


def _cut_evidence(each: Evidence) -> Evidence:
    # Other evidence stays whole: it has no parts that could be fetched.
    if each.kind != "diff" or len(each.text) <= EXCERPT:
        return each
    return replace(each, text=excerpt(each.text))
