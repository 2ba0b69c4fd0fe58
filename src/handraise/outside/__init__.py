"""The ways by which agents outside reach the counter: lines of the stdio relay, MCP over HTTP, the relay endpoints."""
