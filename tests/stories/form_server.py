"""A small MCP server over stdio for the stories, with a tool that wants a form filled in."""

from typing import Annotated, Literal

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel, Field

server = MCPServer("forms")


class Address(BaseModel):
    """A flat form with a field of every kind."""

    street: str = Field(description="Street and number")
    floor: int = Field(default=0, ge=0, le=99)
    lift: bool = False
    door: Literal["left", "right"] = "left"


async def ask_address(parcel: str) -> Elicit[Address]:
    return Elicit(f"Where does {parcel} go?", Address)


@server.tool()
async def deliver(parcel: str, address: Annotated[ElicitationResult[Address], Resolve(ask_address)]) -> str:
    """Delivers a parcel to an address that a person gives."""
    if isinstance(address, AcceptedElicitation):
        return f"{parcel} goes to {address.data!r}"
    return f"{parcel} stays here: {address.action}"


if __name__ == "__main__":
    server.run("stdio")
