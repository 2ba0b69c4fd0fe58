"""Notifications over HTTP: quiet hours, mutes, channels, escalation chains, what was sent, and statistics."""

import csv
import io
from datetime import datetime, tzinfo
from typing import Literal

import msgspec
from starlette.responses import Response

from handraise.api.notification_schemas import (
    AskLogSchema,
    ButtonPressed,
    ChainSchema,
    ChainsSchema,
    ChannelChange,
    ChannelFieldSchema,
    ChannelKindSchema,
    ChannelProbed,
    ChannelSchema,
    ChannelsSchema,
    ChannelTried,
    ExportSchema,
    LogEntrySchema,
    LogSchema,
    MuteSchema,
    MutesSchema,
    NewChain,
    NewChannel,
    NewMute,
    OverviewSchema,
    PresenceReport,
    PressedButton,
    PreviewRow,
    PreviewSchema,
    PreviewStep,
    QuietHoursSchema,
    StatisticsSchema,
)
from handraise.api.requests import ApiRequest, BadRequest, Parameter, Route, answer, receive_body
from handraise.api.schemas import Done
from handraise.channels.config import FIELDS
from handraise.channels.model import KINDS, ChannelKind
from handraise.model.asks import KINDS as ASK_KINDS
from handraise.model.asks import Kind
from handraise.model.tokens import may
from handraise.reach.health import ChannelState
from handraise.reach.model import (
    ALL,
    DEFAULT_STEPS,
    AskLog,
    Mute,
    NoticeEntry,
    QuietSettings,
)
from handraise.reach.notifications import Notifications
from handraise.reach.picture import PictureStep
from handraise.reach.settings import StoredChannel
from handraise.reach.statistics import AskRow
from handraise.reach.words import reason_in_words

_LARGEST = 64 * 1024
_DAYS = Parameter("days", "How many days back. Default: 30", "integer", least=1, most=365)
_LIMIT = Parameter("limit", "How many asks at most. Default: 50", "integer", least=1, most=500)
_EVERY = "all"
"""Instead of a project in a path."""


class NotificationRoutes:
    """The routes of notifications."""

    def __init__(self, notifications: Notifications) -> None:
        self._all = notifications

    async def overview(self, request: ApiRequest) -> Response:
        name = request.principal.person.name
        await self._all.settings.refresh()
        quiet, window = self._all.settings.quiet.get(name), self._all.settings.windows.get(name)
        world = await self._all.situation.world()
        return answer(
            OverviewSchema(
                name,
                _quiet(quiet),
                window.ends_at(request.auth.now()) if window is not None else None,
                len(await self._all.channels(request.principal)),
                len(await self._all.mutes(request.principal)),
                name in world.devices,
                world.has_telegram,
                name in world.looking,
                sorted(each for each, role in world.roles.items() if may(role, "approver")),
            )
        )

    async def set_quiet(self, request: ApiRequest) -> Response:
        wanted = request.body(QuietHoursSchema)
        settings = QuietSettings(wanted.start, wanted.end, wanted.time_zone, wanted.urgent_gets_through)
        await self._all.set_quiet(request.principal.person.name, settings)
        return answer(Done())

    async def end_quiet(self, request: ApiRequest) -> Response:
        await self._all.set_quiet(request.principal.person.name, None)
        return answer(Done())

    async def channels(self, request: ApiRequest) -> Response:
        shown = [self._channel(each, state) for each, state in await self._all.channels(request.principal)]
        return answer(ChannelsSchema(shown, [_kind(each) for each in KINDS]))

    async def add_channel(self, request: ApiRequest) -> Response:
        wanted = request.body(NewChannel)
        made = await self._all.add_channel(
            request.principal,
            wanted.name,
            wanted.kind,
            wanted.fields,
            with_content=wanted.with_content,
            shared=wanted.shared,
        )
        await self._audit(request, "channel added", made)
        return answer(self._channel(made, None), 201)

    async def change_channel(self, request: ApiRequest) -> Response:
        wanted = request.body(ChannelChange)
        after = await self._all.change_channel(
            request.principal, request.path("id"), wanted.name, wanted.fields, with_content=wanted.with_content
        )
        await self._audit(request, "channel changed", after)
        return answer(self._channel(after, None))

    async def remove_channel(self, request: ApiRequest) -> Response:
        known = self._all.settings.channels.get(request.path("id"))
        await self._all.remove_channel(request.principal, request.path("id"))
        if known is not None:
            await self._audit(request, "channel removed", known)
        return answer(Done())

    async def test_channel(self, request: ApiRequest) -> Response:
        trouble = await self._all.test_channel(request.principal, request.path("id"))
        return answer(ChannelTried(trouble is None, trouble))

    async def probe_channel(self, request: ApiRequest) -> Response:
        ok, detail = await self._all.probe_channel(request.principal, request.path("id"))
        return answer(ChannelProbed(ok, detail))

    async def mutes(self, request: ApiRequest) -> Response:
        return answer(MutesSchema([_mute(each) for each in await self._all.mutes(request.principal)]))

    async def mute(self, request: ApiRequest) -> Response:
        wanted = request.body(NewMute)
        made = await self._all.mute(
            request.principal,
            session=wanted.session,
            project=wanted.project,
            until=wanted.until,
            for_everyone=wanted.for_everyone,
        )
        return answer(_mute(made), 201)

    async def unmute(self, request: ApiRequest) -> Response:
        await self._all.unmute(request.principal, request.path("id"))
        return answer(Done())

    async def chains(self, _: ApiRequest) -> Response:
        await self._all.settings.refresh()
        stored = self._all.settings.chains
        every = stored.get(ALL)
        first = ChainSchema(None, every.steps) if every else ChainSchema(None, DEFAULT_STEPS, is_default=True)
        others = [ChainSchema(each.project, each.steps) for each in stored.values() if each.project != ALL]
        return answer(ChainsSchema([first, *sorted(others, key=lambda each: each.project or "")]))

    async def set_chain(self, request: ApiRequest) -> Response:
        project = await self._project(request)
        steps = request.body(NewChain).steps
        await self._all.set_chain(project, steps)
        await request.auth.note(
            "chain changed", request.principal.person, request.desk.source, {"project": project or _EVERY}
        )
        return answer(ChainSchema(project or None, self._all.settings.chains[project].steps))

    async def remove_chain(self, request: ApiRequest) -> Response:
        project = await self._project(request)
        await self._all.set_chain(project, None)
        await request.auth.note(
            "chain changed", request.principal.person, request.desk.source, {"project": project or _EVERY}
        )
        return answer(Done())

    async def preview(self, request: ApiRequest) -> Response:
        kind: Kind = request.choice("kind", ASK_KINDS) or "permission"
        session, project = request.text("session"), request.text("project")
        is_dangerous = request.choice("danger", ("yes", "no")) == "yes"
        steps = await self._all.picture(kind, project=project, session=session, is_dangerous=is_dangerous)
        return answer(PreviewSchema(request.auth.now(), project, [self._step(each) for each in steps]))

    async def log(self, request: ApiRequest) -> Response:
        limit = request.number(_LIMIT) or 50
        return answer(LogSchema([self._log(each) for each in await self._all.logs(limit)]))

    async def log_of(self, request: ApiRequest) -> Response:
        return answer(self._log(await self._all.log_of(request.path("id"))))

    async def statistics(self, request: ApiRequest) -> Response:
        days = request.number(_DAYS) or 30
        return answer(StatisticsSchema(days, await self._all.statistics(days)))

    async def export(self, request: ApiRequest) -> Response:
        rows = await self._all.rows(request.number(_DAYS) or 30)
        if request.choice("format", ("json", "csv")) != "csv":
            return answer(ExportSchema(rows))
        headers = {"content-disposition": 'attachment; filename="notifications.csv"'}
        return Response(_csv(rows), media_type="text/csv; charset=utf-8", headers=headers)

    async def see(self, request: ApiRequest) -> Response:
        report = request.body(PresenceReport)
        await self._all.see(
            request.principal,
            report.page,
            is_focused=report.focused,
            view=report.view,
            session=report.session,
        )
        return answer(Done())

    async def press(self, request: ApiRequest) -> Response:
        content = await receive_body(request.http, _LARGEST, json_only=False)
        try:
            secret = msgspec.json.decode(content or b"{}", type=PressedButton).secret
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequest("Send the secret of a button as JSON.", 422, "invalid") from error
        return answer(ButtonPressed(await self._all.press(secret)))

    def routes(self) -> tuple[Route, ...]:
        base = "/api/notifications"
        channel, mute, chain = f"{base}/channels/{{id}}", f"{base}/mutes/{{id}}", f"{base}/chains/{{id}}"
        quiet = f"{base}/quiet-hours"
        return (
            Route("GET", base, "viewer", self.overview, "Get your settings at a glance", returns=OverviewSchema),
            Route("PUT", quiet, "viewer", self.set_quiet, "Set your quiet hours", QuietHoursSchema, Done),
            Route("DELETE", quiet, "viewer", self.end_quiet, "Remove your quiet hours", returns=Done),
            Route("GET", f"{base}/channels", "viewer", self.channels, "List channels", returns=ChannelsSchema),
            Route(
                "POST",
                f"{base}/channels",
                "approver",
                self.add_channel,
                "Add a channel",
                NewChannel,
                ChannelSchema,
                201,
                largest=_LARGEST,
            ),
            Route(
                "PATCH",
                channel,
                "approver",
                self.change_channel,
                "Change a channel",
                ChannelChange,
                ChannelSchema,
                largest=_LARGEST,
            ),
            Route("DELETE", channel, "approver", self.remove_channel, "Remove a channel", returns=Done),
            Route("POST", f"{channel}/test", "approver", self.test_channel, "Send a test", returns=ChannelTried),
            Route(
                "POST",
                f"{channel}/probe",
                "approver",
                self.probe_channel,
                "Check a channel without sending anything",
                returns=ChannelProbed,
            ),
            Route("GET", f"{base}/mutes", "viewer", self.mutes, "List mutes", returns=MutesSchema),
            Route("POST", f"{base}/mutes", "viewer", self.mute, "Mute a session or project", NewMute, MuteSchema, 201),
            Route("DELETE", mute, "viewer", self.unmute, "Remove a mute", returns=Done),
            Route("GET", f"{base}/chains", "viewer", self.chains, "List escalation chains", returns=ChainsSchema),
            Route(
                "PUT",
                chain,
                "admin",
                self.set_chain,
                "Set the chain of a project, or of `all`",
                NewChain,
                ChainSchema,
                largest=_LARGEST,
            ),
            Route("DELETE", chain, "admin", self.remove_chain, "Remove a chain", returns=Done),
            Route(
                "GET",
                f"{base}/preview",
                "viewer",
                self.preview,
                "See what would happen to an ask raised now",
                returns=PreviewSchema,
                parameters=(
                    Parameter("project", "A project, by ID or name"),
                    Parameter("session", "A session; its project counts"),
                    Parameter("kind", "The kind of ask. Default: permission", choices=ASK_KINDS),
                    Parameter("danger", "Whether the command is dangerous. Default: no", choices=("yes", "no")),
                ),
            ),
            Route(
                "GET",
                f"{base}/log",
                "viewer",
                self.log,
                "List what was sent and not sent",
                returns=LogSchema,
                parameters=(_LIMIT,),
            ),
            Route(
                "GET",
                "/api/asks/{id}/notifications",
                "viewer",
                self.log_of,
                "List what was sent and not sent about an ask",
                returns=AskLogSchema,
            ),
            Route(
                "GET",
                f"{base}/statistics",
                "viewer",
                self.statistics,
                "Get statistics",
                returns=StatisticsSchema,
                parameters=(_DAYS,),
            ),
            Route(
                "GET",
                f"{base}/export",
                "viewer",
                self.export,
                "Export the asks behind the statistics",
                returns=ExportSchema,
                parameters=(_DAYS, Parameter("format", "Default: json", choices=("json", "csv"))),
                alternate_media="text/csv",
            ),
            Route("POST", "/api/presence", "viewer", self.see, "Report what a page shows", PresenceReport, Done),
            Route(
                "POST",
                f"{base}/buttons",
                None,
                self.press,
                "Answer with a button of a message",
                PressedButton,
                ButtonPressed,
                largest=_LARGEST,
                authenticates_itself=True,
                refuses_agents=True,
            ),
        )

    async def _project(self, request: ApiRequest) -> str:
        named = request.path("id")
        return ALL if named == _EVERY else await self._all.project_id(named)

    def _channel(self, channel: StoredChannel, state: ChannelState | None) -> ChannelSchema:
        config = channel.config
        return ChannelSchema(
            config.id,
            config.name,
            config.kind,
            channel.owner or None,
            self._all.describe(channel),
            config.fields,
            tuple(sorted(channel.secrets.values)),
            config.with_content,
            channel.created_at,
            state.last_sent_at if state is not None else None,
            (state.trouble or None) if state is not None else None,
        )

    def _zone(self, person: str) -> tzinfo | None:
        window = self._all.settings.windows.get(person)
        return window.zone if window is not None else None

    def _step(self, step: PictureStep) -> PreviewStep:
        rows = [
            PreviewRow(
                each.channel,
                each.label,
                each.person or None,
                each.effect,
                each.at,
                each.reason,
                reason_in_words(each.reason, each.until, self._zone(each.person)),
                each.until,
            )
            for each in step.rows
        ]
        return PreviewStep(step.after, step.at, step.urgency, step.targets, rows)

    def _log(self, log_of: AskLog) -> AskLogSchema:
        return AskLogSchema(
            log_of.ask,
            log_of.kind,
            log_of.session,
            log_of.project,
            log_of.opened_at,
            log_of.noticed_at,
            log_of.noticed_by or None,
            [self._entry(each) for each in log_of.entries],
        )

    def _entry(self, entry: NoticeEntry) -> LogEntrySchema:
        return LogEntrySchema(
            entry.step,
            entry.channel,
            entry.label or entry.channel,
            entry.person or None,
            entry.state,
            entry.at,
            entry.urgency,
            entry.reason,
            reason_in_words(entry.reason, entry.until, self._zone(entry.person)),
            entry.until,
            entry.detail,
        )

    async def _audit(
        self,
        request: ApiRequest,
        what: Literal["channel added", "channel changed", "channel removed"],
        channel: StoredChannel,
    ) -> None:
        detail = {"channel": channel.id, "name": channel.config.name, "kind": channel.config.kind}
        await request.auth.note(what, request.principal.person, request.desk.source, detail)


def _quiet(quiet: QuietSettings | None) -> QuietHoursSchema | None:
    if quiet is None:
        return None
    return QuietHoursSchema(quiet.start, quiet.end, quiet.time_zone, quiet.urgent_gets_through)


def _mute(mute: Mute) -> MuteSchema:
    return MuteSchema(mute.id, mute.session, mute.project, mute.until, mute.person == ALL, mute.by, mute.created_at)


def _kind(kind: ChannelKind) -> ChannelKindSchema:
    fields = FIELDS[kind]
    return ChannelKindSchema(
        kind,
        tuple(ChannelFieldSchema(each.name, each.required, each.secret, each.default, each.choices) for each in fields),
    )


def _csv(rows: list[AskRow]) -> str:
    written = io.StringIO()
    names = [each.name for each in msgspec.structs.fields(AskRow)]
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(getattr(row, name)) for name in names])
    return written.getvalue()


def _cell(value: object) -> str:
    """As text. A program that opens it must not take a name for a formula."""
    if value is None:
        return ""
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
