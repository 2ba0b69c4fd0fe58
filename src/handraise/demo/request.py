"""One request from Claude to the model, and what is new in it. Never answers, never keeps state.

Claude sends the whole conversation each time. Everything after the last assistant message is new.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_DIRECTORY = re.compile(r"Primary working directory: (.+)")
_PLAN_FILE = re.compile(r" at (/.*?/plans/[\w.-]+\.md)")
# Text that Claude Code adds to what a person wrote; seen in 2.1.325.
_ASIDES = ("<system-reminder>", "<local-command-", "<command-name>", "[Image: source: ")
# A compaction offers every tool and forbids them all; only its first words identify it.
_COMPACTION = "CRITICAL: Respond with TEXT ONLY."
CHECK = "dangerous_tool_use"
"""What Claude Code calls the check of auto mode."""
_SUBAGENT_MARK = "cc_is_subagent=true"


class SentImage(Struct, frozen=True):
    """An image as Claude sent it: base64 text and its type."""

    media_type: str
    base64: str


class ToolOutcome(Struct, frozen=True):
    """The result of one tool call."""

    tool_use_id: str
    text: str
    is_error: bool
    images: tuple[SentImage, ...] = ()


class Request(Struct, frozen=True):
    """One `POST /v1/messages`, unchanged, with what identifies it."""

    body: Mapping[str, Any]
    session: str = ""
    agent: str = ""
    size: int = 0

    @classmethod
    def read(cls, body: bytes, headers: Mapping[str, str]) -> "Request":
        """Raises `ValueError` for anything but a JSON object."""
        # Plain `json`, because half an emoji comes as a lone surrogate, which strict libraries refuse.
        decoded = json.loads(body)
        if not isinstance(decoded, dict):
            raise ValueError("a request is a JSON object")  # noqa: TRY004 - foreign, not a mistake in our own code
        session = headers.get("x-claude-code-session-id", "")
        return cls(decoded, session, headers.get("x-claude-code-agent-id", ""), len(body))

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        return self.body.get("messages") or ()

    @property
    def model(self) -> str:
        return str(self.body.get("model", "scripted"))

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools offered."""
        return tuple(str(tool.get("name", "")) for tool in self.body.get("tools") or ())

    @property
    def checks_calls(self) -> bool:
        """Whether the tool calls of the reply are to be checked on the server, as in auto mode."""
        wanted = self.body.get("safeguards") or ()
        return any(isinstance(each, Mapping) and each.get("type") == CHECK for each in wanted)

    @property
    def system(self) -> str:
        """The system prompt, with what Claude adds in messages of the role `system`."""
        prompts = list(_texts(self.body.get("system")))
        for message in self.messages:
            if message.get("role") == "system":
                prompts.extend(_texts(message.get("content")))
        return "\n".join(prompts)

    @property
    def opening(self) -> str:
        """The first message of this conversation; for a sub-agent, its prompt."""
        for message in self.messages:
            if message.get("role") == "user":
                return _read_content([message]).text
        return ""

    @property
    def is_subagent(self) -> bool:
        return bool(self.agent) or _SUBAGENT_MARK in self.system

    @property
    def is_side(self) -> bool:
        """Whether this isn't part of the conversation: titles, quota probes and summaries."""
        return not self.tools or self.body.get("max_tokens") == 1 or self._newest_text.startswith(_COMPACTION)

    @property
    def identity(self) -> str:
        """The same for a request and its repetition, even if stream, max_tokens or cache marks differ.

        With another model it is another request.
        """
        messages = [
            (message.get("role"), [_without_cache_mark(block) for block in _blocks(message.get("content"))])
            for message in self.messages
            if message.get("role") != "system"
        ]
        encoded = json.dumps((self.session, self.agent, self.model, messages), sort_keys=True)
        return hashlib.sha256(encoded.encode()).hexdigest()

    @property
    def _newest_text(self) -> str:
        return next(_texts(self.messages[-1].get("content")), "") if self.messages else ""


class Conversation(Struct, frozen=True):
    """What is new in a request: the person's text, tool results, and what Claude added."""

    text: str
    asides: tuple[str, ...]
    results: tuple[ToolOutcome, ...]
    images: tuple[SentImage, ...]
    request: Request

    @classmethod
    def read(cls, request: Request) -> "Conversation":
        news = _read_content(_since_the_last_reply(request.messages))
        results = _in_the_order_of_calls(news.results, request.messages)
        return cls(news.text, tuple(news.asides), results, tuple(news.images), request)

    def result(self, i: int = 0) -> ToolOutcome:
        """The result of the i-th tool call of the previous reply."""
        return self.results[i]

    @property
    def tools(self) -> tuple[str, ...]:
        return self.request.tools

    @property
    def system(self) -> str:
        return self.request.system

    @property
    def directory(self) -> str:
        """Claude's working directory, from its system prompt; tools need absolute paths."""
        found = _DIRECTORY.search(self.system)
        return found.group(1).strip() if found else "."

    @property
    def plan_file(self) -> str:
        """In plan mode, the file that Claude shows as the plan: write it, then use `ExitPlanMode` without input."""
        found = _PLAN_FILE.findall(self.system)
        return found[-1] if found else ""


class _Content:
    """Gathers the blocks of messages, each kind in its own list."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.asides: list[str] = []
        self.results: list[ToolOutcome] = []
        self.images: list[SentImage] = []

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    def add(self, block: Mapping[str, Any]) -> None:
        match block.get("type"):
            case "text":
                self._add_text(str(block.get("text", "")))
            case "image":
                self.images.append(_read_image(block))
            case "tool_result":
                self.results.append(_read_result(block))
            case _:
                # Other blocks can be seen in the request itself.
                pass

    def _add_text(self, text: str) -> None:
        if text.lstrip().startswith(_ASIDES):
            self.asides.append(text)
            return
        self.asides.extend(_REMINDER.findall(text))
        own = _REMINDER.sub("", text).strip()
        if own:
            self.texts.append(own)


def _read_content(messages: Sequence[Mapping[str, Any]]) -> _Content:
    content = _Content()
    for message in messages:
        if message.get("role") == "user":
            for block in _blocks(message.get("content")):
                content.add(block)
    return content


def _since_the_last_reply(messages: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    for place in range(len(messages), 0, -1):
        if messages[place - 1].get("role") == "assistant":
            return messages[place:]
    return messages


def _in_the_order_of_calls(
    results: Sequence[ToolOutcome], messages: Sequence[Mapping[str, Any]]
) -> tuple[ToolOutcome, ...]:
    """Sorted, because Claude sends results as tools finish."""
    called = [
        block.get("id")
        for message in messages
        if message.get("role") == "assistant"
        for block in _blocks(message.get("content"))
    ]
    known = [result for result in results if result.tool_use_id in called]
    unknown = [result for result in results if result.tool_use_id not in called]
    return (*sorted(known, key=lambda result: called.index(result.tool_use_id)), *unknown)


def _read_result(block: Mapping[str, Any]) -> ToolOutcome:
    content = block.get("content")
    images = tuple(_read_image(part) for part in _blocks(content) if part.get("type") == "image")
    return ToolOutcome(
        str(block.get("tool_use_id", "")), "\n".join(_texts(content)), bool(block.get("is_error")), images
    )


def _read_image(block: Mapping[str, Any]) -> SentImage:
    source = block.get("source") or {}
    return SentImage(str(source.get("media_type", "")), str(source.get("data", "")))


def _blocks(content: object) -> Iterator[Mapping[str, Any]]:
    """The API takes a plain string for a single text block."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def _texts(content: object) -> Iterator[str]:
    return (str(block.get("text", "")) for block in _blocks(content) if block.get("type") == "text")


def _without_cache_mark(block: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}
