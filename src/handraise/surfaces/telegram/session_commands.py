"""The commands about sessions, one method each."""

from collections.abc import Awaitable, Callable

from handraise.desk.interface import Refused
from handraise.model.projects import Project
from handraise.model.sessions import Session
from handraise.present.headlines import one_line
from handraise.surfaces.telegram import commands, session_texts
from handraise.surfaces.telegram.formatted import Formatted
from handraise.surfaces.telegram.incoming import IncomingMessage
from handraise.surfaces.telegram.outgoing import ChatPlace
from handraise.surfaces.telegram.people import Member
from handraise.surfaces.telegram.session_acts import RESUME, SessionActs, check_role
from handraise.texts import t

PICK = "session.pick"
MODE = "session.mode"

_Handler = Callable[[Member, IncomingMessage, str], Awaitable[None]]


class SessionCommands:
    """Raises a DeskError or UnusableFile with a sentence for what can't be done."""

    def __init__(self, acts: SessionActs) -> None:
        self._acts = acts
        self._handlers: dict[str, _Handler] = {
            "new": self.new,
            "sessions": self._list,
            "inbox": self._inbox,
            "mode": self._mode,
            "interrupt": self._interrupt,
            "stop": self._stop,
            "resume": self._resume,
            "mute": self._mute,
            "help": self._help,
        }

    async def run(self, member: Member, message: IncomingMessage, command: str, rest: str) -> None:
        """Carries out any command; one that doesn't exist is answered with those that do."""
        name = commands.known(command)
        if name is None:
            raise Refused(commands.unknown(command))
        check_role(member, commands.role_for(name))
        await self._handlers[name](member, message, rest)

    async def new(self, member: Member, message: IncomingMessage, rest: str, *, again: bool = False) -> None:
        check_role(member, "admin")
        everything = await self._acts.tools.reading.projects()
        projects = [each for each in everything if self._acts.tools.people.shows(message.place, each.name)]
        wanted = commands.new_request(rest, everything)
        if wanted.project is not None and wanted.project not in projects:
            raise Refused(t("telegram.session.not_here"))
        project = wanted.project.id if wanted.project else self._default_project(message.place, projects)
        if project is None:
            raise Refused(_which_project(projects))
        if not wanted.text.strip() and not message.files:
            raise Refused(t("telegram.session.what"))
        await self._acts.start(member, message, project, wanted.text, again=again)

    def _default_project(self, place: ChatPlace, projects: list[Project]) -> str | None:
        routed = self._acts.tools.people.project_at(place)
        return routed or (projects[0].id if len(projects) == 1 else None)

    async def _list(self, _member: Member, message: IncomingMessage, _rest: str) -> None:
        summaries = session_texts.listed(await self._acts.listed_at(message.place))
        if not summaries:
            raise Refused(t("telegram.session.no_sessions"))
        rows = await self._acts.buttons(message.place, summaries, PICK)
        content = session_texts.session_list(summaries, await self._acts.projects())
        self._acts.send(message.place, content, rows)

    async def _inbox(self, _member: Member, message: IncomingMessage, _rest: str) -> None:
        if await self._acts.tools.show_again(message.place):
            return
        elsewhere = len(await self._acts.tools.reading.asks())
        key = "telegram.session.inbox.elsewhere" if elsewhere else "telegram.session.inbox.empty"
        self._acts.reply(message, t(key, count=elsewhere) if elsewhere else t(key))

    async def _mode(self, member: Member, message: IncomingMessage, rest: str) -> None:
        summary = await self._acts.target(message)
        session = summary.session
        if not rest:
            await self._offer_modes(message, session)
            return
        wanted = commands.mode_named(rest)
        if wanted is None:
            raise Refused(t("telegram.session.mode.unknown", modes=", ".join(commands.OFFERED_MODES)))
        await self._acts.tools.desk_of(member).change_mode(session.id, wanted)
        self._acts.reply(message, t("telegram.session.mode.changed", mode=session_texts.mode_name(wanted)))

    async def _offer_modes(self, message: IncomingMessage, session: Session) -> None:
        buttons = [
            (await self._acts.button(message.place, session_texts.mode_name(mode), MODE, f"{mode} {session.id}"),)
            for mode in commands.OFFERED_MODES
            if mode != session.mode
        ]
        title, mode = session_texts.title_of(session), session_texts.mode_name(session.mode)
        self._acts.reply(message, t("telegram.session.mode.now", title=title, mode=mode), tuple(buttons))

    async def _interrupt(self, member: Member, message: IncomingMessage, _rest: str) -> None:
        summary = await self._acts.target(message)
        await self._acts.interrupt(member, summary.session.id)
        self._acts.reply(message, t("telegram.session.interrupted", title=session_texts.title_of(summary.session)))

    async def _stop(self, _member: Member, message: IncomingMessage, _rest: str) -> None:
        await self._acts.ask_to_stop(message.place, await self._acts.target(message))

    async def _resume(self, member: Member, message: IncomingMessage, rest: str) -> None:
        view = self._acts.views.meant(message) or self._acts.last_used(message)
        if view is None or (not self._acts.views.meant(message) and await self._acts.is_alive(message)):
            await self._offer_ended(message)
            return
        content = await self._acts.content(message, rest) if rest or message.files else None
        await self._acts.tools.desk_of(member).resume(view.session, content)
        await self._acts.use(view, message)

    async def _offer_ended(self, message: IncomingMessage) -> None:
        everything = session_texts.listed(
            each for each in await self._acts.listed_at(message.place) if each.session.ended is not None
        )
        if not everything:
            raise Refused(t("telegram.session.nothing_to_resume"))
        rows = await self._acts.buttons(message.place, everything, RESUME)
        self._acts.reply(message, t("telegram.session.which_resume"), rows)

    async def _mute(self, _member: Member, message: IncomingMessage, rest: str) -> None:
        view = self._acts.views.meant(message)
        if view is None:
            muted = commands.wants_mute(rest, muted=self._acts.views.is_muted(message.place))
            await self._acts.views.mute(message.place, muted=muted)
            self._acts.reply(message, t("telegram.session.muted_here" if muted else "telegram.session.unmuted_here"))
            return
        muted = commands.wants_mute(rest, muted=view.record.link.mute)
        await view.record.save(mute=muted)
        self._acts.views.wake(view)
        key = "telegram.session.muted" if muted else "telegram.session.unmuted"
        self._acts.reply(message, t(key, title=session_texts.short_title(view.progress.title)))

    async def _help(self, _member: Member, message: IncomingMessage, _rest: str) -> None:
        self._acts.send(message.place, Formatted(commands.help_text()))


def _which_project(projects: list[Project]) -> str:
    if not projects:
        return t("telegram.session.no_project")
    names = ", ".join(one_line(each.name) for each in projects)
    return t("telegram.session.which_project", example=one_line(projects[0].name), names=names)
