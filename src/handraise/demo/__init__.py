"""A scripted model on loopback: makes the real Claude Code do what a script says. Never reaches the network."""

from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import (
    Piece,
    Script,
    Scripted,
    agent,
    cut,
    error,
    fail,
    hold,
    say,
    spend,
    think,
    use,
    wait,
)
from handraise.demo.request import Conversation, Request, SentImage, ToolOutcome

__all__ = [
    "Conversation",
    "Piece",
    "Request",
    "Script",
    "Scripted",
    "ScriptedModel",
    "SentImage",
    "ToolOutcome",
    "agent",
    "cut",
    "environment",
    "error",
    "fail",
    "hold",
    "say",
    "spend",
    "think",
    "use",
    "wait",
]
