"""A small MCP server over stdio, with a tool that wants a form filled in: a field of every kind."""

from typing import Annotated, Literal

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel, Field

server = MCPServer("forms")


class Order(BaseModel):
    """What a person is asked for."""

    name: str = Field(title="Name", min_length=2, max_length=20)
    note: str | None = Field(default=None, title="Note")
    mail: str = Field(title="Mail", json_schema_extra={"format": "email"})
    site: str = Field(default="", title="Site", json_schema_extra={"format": "uri"})
    day: str = Field(title="Day", json_schema_extra={"format": "date"})
    moment: str = Field(title="Moment", json_schema_extra={"format": "date-time"})
    count: int = Field(default=2, title="Count", ge=1, le=9)
    weight: float = Field(title="Weight", ge=0.5)
    gift: bool = Field(default=False, title="Gift")
    size: Literal["small", "large"] = Field(title="Size")
    extras: list[Literal["ribbon", "card", "flowers"]] = Field(default=["card"], title="Extras")


async def ask_order(what: str) -> Elicit[Order]:
    return Elicit(f"How should {what} be sent?", Order)


@server.tool()
async def order(what: str, order: Annotated[ElicitationResult[Order], Resolve(ask_order)]) -> str:
    """Orders something the way a person wants it."""
    if isinstance(order, AcceptedElicitation):
        return f"{what}: {order.data.model_dump_json()}"
    return f"{what} was not ordered: {order.action}"


if __name__ == "__main__":
    server.run("stdio")
