"""The final answer of a turn as messages and files, with its time and cost. Pure."""

import posixpath
import re
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import unquote

from msgspec import Struct

from handraise.model.items import Notice, SessionEnded
from handraise.present.evidence import evidence_of_call
from handraise.present.headlines import clipped, one_line
from handraise.present.states import ending_in_words
from handraise.surfaces.telegram.formatted import EMPTY, LONGEST, Formatted, bold, italic, join, split, units
from handraise.surfaces.telegram.layout import shown_evidence
from handraise.surfaces.telegram.markdown import from_markdown
from handraise.surfaces.telegram.progress import Alert, CallDenied, MessageOutcome, SessionOver, TurnOver
from handraise.texts import span, t

MOST_PARTS = 4
"""A longer answer continues in a file."""
MOST_FILES = 5
LONGEST_CODE = 2_500
"""Longer code is a file: it can be opened and copied as a whole."""
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
_DOCUMENTS = (".pdf", ".csv", ".tsv", ".xlsx", ".docx", ".pptx", ".zip", ".svg", ".html", ".mp4")
_TITLE = 60
_EXACT_SECONDS = 60
_LONGEST_READ = 6 * LONGEST
"""Of a longer text only the first message is formatted: whatever Claude writes, that takes little time."""
# The time that these take grows with the text alone, never faster: Claude may write anything.
_OPENING = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)")
_LINK = re.compile(r"\]\(([^)\n]{1,500})\)")
_LINK_TITLE = re.compile(r"\s\"[^\"]*\"$")
_SPAN = re.compile(r"`([^`\n]+)`")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_EXTENSIONS = {
    "python": "py", "javascript": "js", "typescript": "ts", "bash": "sh", "shell": "sh", "rust": "rs", "ruby": "rb",
    "markdown": "md", "kotlin": "kt", "csharp": "cs", "c++": "cpp", "golang": "go", "text": "txt", "plain": "txt",
}  # fmt: skip


class AnswerFile(Struct, frozen=True):
    """A file that belongs to an answer."""

    name: str
    data: bytes
    photo: bool = False


class _Fence(Struct, frozen=True):
    """A block of code, and where it is in its text."""

    begin: int
    end: int
    language: str
    code: str


class FinalAnswer(Struct, frozen=True):
    """Messages in order, each within Telegram's limit, and files after them. `silent`: it needs no sound."""

    parts: tuple[Formatted, ...]
    files: tuple[AnswerFile, ...] = ()
    mentions: tuple[str, ...] = ()
    """Paths of files that the answer shows or links to, as Claude wrote them."""
    silent: bool = False
    allows: str = ""
    """The denied action that a button below the last message allows; empty if there is none."""


def final_answer(outcome: MessageOutcome, title: str) -> FinalAnswer:
    """What people read when something is over."""
    match outcome:
        case TurnOver():
            return _of_turn(outcome, title)
        case SessionOver(ended=ended):
            return _of_session(ended, title)
        case Alert(notice=notice):
            return _of_notice(notice, title)
        case CallDenied():
            return _of_denial(outcome, title)


def mentioned_files(text: str) -> tuple[str, ...]:
    """Local files that a text shows or links to: pictures and documents, but no source files."""
    found = [_path(_LINK_TITLE.sub("", target.strip()).rstrip().strip("<>")) for target in _LINK.findall(text)]
    shown = [path for path in found if path.lower().endswith(PICTURES + _DOCUMENTS)]
    shown += [path for each in _SPAN.findall(text) if (path := _path(each)).lower().endswith(PICTURES)]
    return tuple(dict.fromkeys(shown))[:MOST_FILES]


def _of_turn(over: TurnOver, title: str) -> FinalAnswer:
    ended = over.ended
    seconds = ended.duration_ms / 1000
    time = f"{seconds:.1f} s" if seconds < _EXACT_SECONDS else span(timedelta(seconds=seconds))
    footer = italic(
        t("telegram.session.turn", title=clipped(one_line(title), _TITLE), time=time, cost=f"{ended.cost_usd:.4f}")
    )
    if ended.interrupted:
        return FinalAnswer((join("\n\n", (t("sessions.turn.interrupted"), footer)),), silent=True)
    if ended.is_error:
        failure = Formatted(f"✗ {one_line(ended.error or '') or t('sessions.turn.no_reason')}")
        return FinalAnswer(tuple(split(join("\n\n", (failure, footer)))))
    return _of_text(over.text, footer)


def _of_text(text: str, footer: Formatted) -> FinalAnswer:
    body, files = _without_long_code(text)
    content = from_markdown(body[:_LONGEST_READ]) if body.strip() else EMPTY
    parts = split(join("\n\n", [each for each in (content, footer) if each.text]))
    if len(parts) > MOST_PARTS or len(body) > _LONGEST_READ:
        rest = join("\n\n", (t("telegram.session.continued"), footer))
        first = split(content, LONGEST - rest.units - 2)[:1]
        parts, files = [join("\n\n", (*first, rest))], [AnswerFile("answer.md", text.encode("utf-8", "replace"))]
    return FinalAnswer(tuple(parts), tuple(files), mentioned_files(text))


def _of_session(ended: SessionEnded, title: str) -> FinalAnswer:
    sentence = t("telegram.session.ended", how=ending_in_words(ended.how), reason=one_line(ended.reason))
    if ended.alarm:
        sentence = f"🚨 {sentence}"
    parts = split(join("\n", (bold(clipped(one_line(title), _TITLE)), sentence, t("telegram.session.resume_hint"))))
    return FinalAnswer(tuple(parts), silent=not ended.alarm and ended.how in ("stopped", "finished"))


def _of_notice(notice: Notice, title: str) -> FinalAnswer:
    mark = "🚨" if notice.level == "alarm" else "⚠️"
    text = f"{mark} {one_line(notice.text)}"
    return FinalAnswer(tuple(split(join("\n", (bold(clipped(one_line(title), _TITLE)), text)))))


def _of_denial(outcome: CallDenied, title: str) -> FinalAnswer:
    """Only what is shown whole can be allowed from here."""
    denied = outcome.denied
    head = bold(clipped(one_line(title), _TITLE))
    reason = Formatted(t("telegram.session.denied_call", reason=one_line(denied.reason)))
    if outcome.input is not None:
        shown = [shown_evidence(each) for each in evidence_of_call(denied.tool, outcome.input, denied.dangers)]
        name = bold(one_line(denied.tool))
        whole = join("\n\n", (join("\n", (head, reason)), name, *shown, t("telegram.session.allow_hint")))
        if whole.units <= LONGEST:
            return FinalAnswer((whole,), allows=denied.action)
    elsewhere = t("telegram.session.allow_elsewhere")
    return FinalAnswer(tuple(split(join("\n", (head, reason, one_line(denied.title), elsewhere)))))


def _without_long_code(text: str) -> tuple[str, list[AnswerFile]]:
    """The text with the names of files instead of long blocks of code, and these files."""
    files: list[AnswerFile] = []
    pieces: list[str] = []
    end = 0
    for found in _fences(text):
        if units(found.code) <= LONGEST_CODE or len(files) == MOST_FILES:
            continue
        name = f"code-{len(files) + 1}.{_extension(found.language)}"
        files.append(AnswerFile(name, f"{found.code}\n".encode("utf-8", "replace")))
        pieces += [text[end : found.begin], t("telegram.session.attached", name=name)]
        end = found.end
    return "".join((*pieces, text[end:])), files


def _fences(text: str) -> Iterator[_Fence]:
    """Every block of code that is closed."""
    at = begin = inside = 0
    opening: re.Match[str] | None = None
    for line in text.split("\n"):
        after = at + len(line)
        if opening is None:
            opening, begin, inside = _OPENING.match(line), at, after + 1
        elif line.strip(" \t") == opening["fence"]:
            yield _Fence(begin, after, opening["language"], text[inside : at - 1])
            opening = None
        at = after + 1


def _extension(language: str) -> str:
    known = _EXTENSIONS.get(language.lower(), language.lower())
    return known if re.fullmatch("[a-z0-9]{1,10}", known) else "txt"


def _path(target: str) -> str:
    """A local path without what a link may add to it; empty for an address elsewhere."""
    target = target.strip().removeprefix("file://")
    if _SCHEME.match(target) or target.startswith("#"):
        return ""
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(path) if path and "\0" not in path else ""
