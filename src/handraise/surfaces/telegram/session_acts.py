"""What people can do with sessions from a chat, and the sentences that they get."""

from asyncio import Future
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID, uuid5

from handraise.desk.interface import DeskError, NotFound, NotLetIn, Refused, SessionSummary, Words
from handraise.model.items import Said
from handraise.model.projects import Project
from handraise.model.tokens import Role
from handraise.surfaces.telegram.attachments import UnusableFile, block_of, check_size, words
from handraise.surfaces.telegram.formatted import Formatted
from handraise.surfaces.telegram.incoming import IncomingMessage, IncomingPress
from handraise.surfaces.telegram.outgoing import Button, ChatPlace, EditText, Keyboard, SendResult, SendText
from handraise.surfaces.telegram.people import Member
from handraise.surfaces.telegram.progress import OWN_SOURCE
from handraise.surfaces.telegram.session_side import SessionTools
from handraise.surfaces.telegram.session_texts import label_of, short_title, title_of
from handraise.surfaces.telegram.session_view import SessionView
from handraise.surfaces.telegram.session_views import SessionViews, new_link, split_at
from handraise.texts import t

RESUME = "session.resume"
STOP = "session.stop"
KEEP = "session.keep"
"""What the buttons do, apart from those of a single command."""
_RECENT = 30
"""How many sessions are looked through for one that was started just before a crash."""
_SAYS = UUID("6f1d7c1e-2d0a-5b0e-9a53-0c6f3f4e8b11")


def check_role(member: Member, needed: Role) -> None:
    """Raises NotLetIn with a sentence."""
    if not member.may(needed):
        raise NotLetIn(t(f"error.role.{member.role}", needed=needed))


class SessionActs:
    """Shared by messages, commands and presses. What can't be done raises a DeskError with a sentence."""

    def __init__(self, tools: SessionTools, views: SessionViews) -> None:
        self.tools = tools
        self.views = views

    @contextmanager
    def sentences(self, message: IncomingMessage) -> Iterator[None]:
        """What can't be done is answered with the reason."""
        try:
            yield
        except (DeskError, UnusableFile) as error:
            self.reply(message, str(error))

    async def receive(self, member: Member, message: IncomingMessage, *, again: bool) -> None:
        view = self.views.meant(message) or self.last_used(message)
        project = self.tools.people.project_at(message.place)
        if not message.text.strip() and not message.files:
            if message.private:
                self.reply(message, t("telegram.session.nothing"))
        elif view is not None:
            await self._say(member, message, view)
        elif project is not None and message.place.topic is not None and not self.views.is_reply(message):
            await self.start(member, message, project, message.text, again=again)
        elif message.private:
            known = "telegram.session.unknown_reply" if self.views.is_reply(message) else "telegram.session.none"
            self.reply(message, t(known))

    def last_used(self, message: IncomingMessage) -> SessionView | None:
        """In a private chat there is one conversation; a reply to something unknown isn't for it."""
        if not message.private or self.views.is_reply(message):
            return None
        return next(iter(self.views.at(message.place)), None)

    async def _say(self, member: Member, message: IncomingMessage, view: SessionView) -> None:
        check_role(member, "approver")
        summary = await self.tools.reading.session(view.session)
        if summary.session.ended is not None:
            await self._offer_resume(message, summary)
            return
        content = await self.content(message, message.text)
        await self.tools.desk_of(member).say(view.session, content, _say_id(message))
        await self.use(view, message)

    async def use(self, view: SessionView, message: IncomingMessage) -> None:
        await view.record.remember(used_at=message.at, album=message.album, split_at=split_at(message))
        await view.record.add_message(message.number)
        self.views.wake(view)

    async def _offer_resume(self, message: IncomingMessage, summary: SessionSummary) -> None:
        button = await self.button(message.place, t("telegram.session.button.resume"), RESUME, summary.session.id)
        title = title_of(summary.session)
        self.reply(message, t("telegram.session.has_ended", title=title), ((button,),))

    async def start(self, member: Member, message: IncomingMessage, project: str, text: str, *, again: bool) -> None:
        check_role(member, "admin")
        content = await self.content(message, text)
        started = await self._started_before(member, content) if again else None
        if started is None:
            started = (await self.tools.desk_of(member).start(content, project)).session.id
        wants_topic = self.tools.session_topics and message.forum
        view = await self.views.open(new_link(started, message, member.number, wants_topic=wants_topic))
        if view.is_muted:
            self.reply(message, t("telegram.session.started_muted", title=short_title(view.progress.title)))

    async def _started_before(self, member: Member, content: Words) -> str | None:
        """The session that a message started just before a crash: it is shown nowhere yet."""
        text = content if isinstance(content, str) else " ".join(str(block.get("text", "")) for block in content)
        latest = sorted(await self.tools.reading.sessions(), key=lambda each: each.session.created_at)[-_RECENT:]
        for summary in reversed(latest):
            session = summary.session.id
            if self.views.of(session):
                continue
            first = await self.tools.reading.items(session, after=0, limit=10)
            say = next((each for item in first if isinstance(each := item.read(), Said)), None)
            if say and (say.by, say.source, say.text) == (member.person, OWN_SOURCE, text):
                return session
        return None

    async def content(self, message: IncomingMessage, text: str) -> Words:
        blocks = []
        for file in message.files:
            check_size(file)
            blocks.append(block_of(file, await self.tools.download(file.file)))
        return words(text, blocks)

    async def interrupt(self, member: Member, session: str) -> None:
        await self.tools.desk_of(member).interrupt(session)
        for view in self.views.of(session):
            view.progress.interrupting = view.progress.is_open
            self.views.wake(view)

    async def ask_to_stop(self, place: ChatPlace, summary: SessionSummary) -> None:
        session = summary.session
        if session.ended is not None:
            raise Refused(t("telegram.session.already_ended", title=title_of(session)))
        stop = await self.button(place, t("telegram.session.button.stop"), STOP, session.id)
        keep = await self.button(place, t("telegram.session.button.keep"), KEEP, session.id)
        question = t("telegram.session.ask_stop", title=title_of(session))
        self.send(place, Formatted(question), ((keep, stop),))

    async def target(self, message: IncomingMessage) -> SessionSummary:
        """The session that a command is about: by its reply or topic, the last one used, or the only one."""
        view = self.views.meant(message) or self.last_used(message)
        if view is not None:
            return await self.tools.reading.session(view.session)
        if not self.views.is_reply(message):
            here = [await self.tools.reading.session(each.session) for each in self.views.at(message.place)]
            alive = [each for each in here if each.session.ended is None]
            if len(alive) == 1:
                return alive[0]
        raise Refused(t("telegram.session.which"))

    async def is_alive(self, message: IncomingMessage) -> bool:
        try:
            return (await self.target(message)).session.ended is None
        except (NotFound, Refused):
            return False

    async def listed_at(self, place: ChatPlace) -> list[SessionSummary]:
        """The sessions that may be read in a place."""
        names = {each.id: each.name for each in await self.tools.reading.projects()}
        everything = await self.tools.reading.sessions()
        return [each for each in everything if self.tools.people.shows(place, names.get(each.session.project or ""))]

    async def session_at(self, place: ChatPlace, session: str) -> SessionSummary:
        """A session that may be read in a place; raises Refused for others."""
        summary = await self.tools.reading.session(session)
        project = (await self.projects()).get(summary.session.project or "")
        if not self.tools.people.shows(place, project.name if project else None):
            raise Refused(t("telegram.session.not_here"))
        return summary

    async def projects(self) -> dict[str, Project]:
        return {project.id: project for project in await self.tools.reading.projects()}

    async def button(self, place: ChatPlace, label: str, act: str, argument: str) -> Button:
        return Button(label, await self.tools.bind(place, act, argument))

    async def buttons(self, place: ChatPlace, summaries: Sequence[SessionSummary], act: str) -> Keyboard:
        """One for each session, numbered as in the list."""
        numbered = enumerate((each.session for each in summaries), 1)
        return tuple([(await self.button(place, label_of(number, each), act, each.id),) for number, each in numbered])

    def reply(self, message: IncomingMessage, text: str, keyboard: Keyboard = ()) -> None:
        """In a group, it shows what it refers to."""
        reply_to = None if message.private else message.number
        content = SendText(message.place, Formatted(text), keyboard, reply_to)
        self.tools.outbox.put(content, priority="reply", follows=True)

    def send(
        self, place: ChatPlace, content: Formatted, keyboard: Keyboard = (), *, reply_to: int | None = None
    ) -> "Future[SendResult]":
        message = SendText(place, content, keyboard, reply_to)
        return self.tools.outbox.put(message, priority="reply", follows=True)

    def edit(self, press: IncomingPress, text: str) -> None:
        """The buttons go, so that nobody presses them again."""
        self.tools.outbox.put(EditText(press.place, press.message, Formatted(text)), priority="reply")


def _say_id(message: IncomingMessage) -> str:
    """The same for the same message, so that Claude receives it once."""
    return str(uuid5(_SAYS, f"{message.place.chat} {message.number}"))
