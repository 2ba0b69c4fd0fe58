"""What a session changed in its working tree, over HTTP: the files, one file's diff, and its revert."""

from collections import OrderedDict
from typing import Literal

from msgspec import Struct
from starlette.responses import Response

from handraise.api.requests import ApiRequest, BadRequest, Parameter, Route, answer
from handraise.api.schemas import Done
from handraise.desk.interface import NotFound
from handraise.hub.desk import desk_errors
from handraise.hub.file_access import FileAccess, as_text
from handraise.model.names import reveal
from handraise.present.diffs import DiffFacts, DiffLines, DiffPart, facts_of
from handraise.session.reviews import ReviewSource
from handraise.texts import t

_PATH = Parameter("path", "A file, relative to the session's directory")
_FIRST = Parameter("first", "The first line of the diff, counted from 0. Default: 0", "integer")
_LINES = Parameter("limit", "How many lines to return. Default: 1,000", "integer", least=1, most=5_000)
_DIGEST = Parameter("digest", "Lines of this very diff: if the file has changed again, the answer is 404")
_MOST_KEPT = 4


class FileChangeSchema(Struct, frozen=True):
    """A file that changed. `added` and `gone` are lines, or null if they weren't counted."""

    path: str
    status: Literal["added", "modified", "deleted", "link"]
    added: int | None
    gone: int | None


class ReviewSchema(Struct, frozen=True):
    """What a session changed since a commit."""

    source: ReviewSource
    """`none`: there is no Git repository that can be read."""
    machine: str
    """The session's machine."""
    commit: str
    """Empty if the repository had no commit."""
    since_start: bool
    """True: the commit that the session started from. False: the last one."""
    files: list[FileChangeSchema]
    more: bool
    """Whether there are more files than these."""


class FileDiffSchema(Struct, frozen=True):
    """How one file changed."""

    path: str
    status: Literal["added", "modified", "deleted", "link"]
    digest: str
    """Identifies this diff, for a revert."""
    problem: str
    """Why there is no diff: `binary`, `large`, `link` or `secret`. Empty if there is one."""
    facts: DiffFacts
    part: DiffPart


class Reverting(Struct, frozen=True, forbid_unknown_fields=True):
    """A file, and the digest of the diff that was shown."""

    path: str
    digest: str


class ChangeRoutes:
    """Keeps the last diffs split into lines, while people read them."""

    def __init__(self, files: FileAccess) -> None:
        self._files = files
        self._kept: OrderedDict[tuple[str, str, str], tuple[FileDiffSchema, DiffLines]] = OrderedDict()

    async def list_all(self, request: ApiRequest) -> Response:
        session = (await request.desk.session(request.path("id"))).session
        found = await self._files.review(session)
        files = [FileChangeSchema(as_text(each.path), each.status, each.added, each.gone) for each in found.files]
        return answer(ReviewSchema(found.source, session.machine, found.commit, found.since_start, files, found.more))

    async def look(self, request: ApiRequest) -> Response:
        session = (await request.desk.session(request.path("id"))).session
        path, digest = request.text("path"), request.text("digest")
        if path is None:
            raise BadRequest("'path' is required.", 422, "invalid")
        first, limit = request.number(_FIRST) or 0, request.number(_LINES) or 1_000
        found = self._kept.get((session.id, path, digest or ""))
        if found is None:
            shown = await self._files.diff(session, path)
            if shown is None or (digest is not None and shown.digest != digest):
                raise NotFound(t("error.change"))
            text = reveal(shown.diff or "")
            lines = DiffLines(text)
            facts = facts_of(shown.diff or "", text)
            schema = FileDiffSchema(path, shown.status, shown.digest, shown.problem, facts, lines.part(0, 1))
            found = self._kept[session.id, path, shown.digest] = schema, lines
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        schema, lines = found
        part = lines.part(first, limit)
        return answer(FileDiffSchema(schema.path, schema.status, schema.digest, schema.problem, schema.facts, part))

    async def revert(self, request: ApiRequest) -> Response:
        session = (await request.desk.session(request.path("id"))).session
        wanted = request.body(Reverting)
        with desk_errors():
            await self._files.revert(session, wanted.path, wanted.digest, request.desk.person, request.desk.source)
        return answer(Done())

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(
                "GET",
                "/api/sessions/{id}/changes",
                "approver",
                self.list_all,
                "List what a session changed in its working tree",
                returns=ReviewSchema,
                compress=True,
            ),
            Route(
                "GET",
                "/api/sessions/{id}/changes/file",
                "approver",
                self.look,
                "Get how a file changed",
                returns=FileDiffSchema,
                parameters=(_PATH, _FIRST, _LINES, _DIGEST),
            ),
            Route(
                "POST",
                "/api/sessions/{id}/changes/revert",
                "admin",
                self.revert,
                "Revert a file, if it is still as it was shown",
                Reverting,
                Done,
            ),
        )
