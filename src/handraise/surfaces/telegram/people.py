"""Who may do what on Telegram, and where an ask's card goes. Pure."""

from datetime import datetime, time, tzinfo

from msgspec import Struct

from handraise.model.actors import Person, seat_of
from handraise.model.answers import Answer, Trusting
from handraise.model.tokens import Role, may
from handraise.surfaces.telegram.outgoing import ChatPlace

PUBLIC_API = "https://api.telegram.org"


class Member(Struct, frozen=True):
    """A Telegram user who is allowed to use the bot."""

    number: int
    name: str
    role: Role

    @property
    def person(self) -> Person:
        return Person(self.name, seat_of(f"telegram {self.number}"))

    def may(self, needed: Role) -> bool:
        return may(self.role, needed)


class QuietHours(Struct, frozen=True):
    """A time of day in which messages make no sound. `end` may be on the next day."""

    start: time
    end: time
    zone: tzinfo

    def cover(self, at: datetime) -> bool:
        clock = at.astimezone(self.zone).time()
        if self.start <= self.end:
            return self.start <= clock < self.end
        return clock >= self.start or clock < self.end


class TelegramConfig(Struct, frozen=True):
    """The settings of the bot. `routes` are places by the names of projects."""

    token: str
    members: tuple[Member, ...]
    chats: tuple[ChatPlace, ...] = ()
    routes: dict[str, ChatPlace] = {}
    quiet: QuietHours | None = None
    api: str = PUBLIC_API
    session_topics: bool = False

    def __repr__(self) -> str:
        """Never shows the token."""
        return f"TelegramConfig({len(self.members)} members, {len(self.chats)} chats)"


class People:
    """The members and the places. `moved` is where a place's messages go instead: groups get new numbers."""

    def __init__(self, config: TelegramConfig) -> None:
        self._config = config
        self._members = {member.number: member for member in config.members}
        self.private: dict[int, int] = {}
        """The private chat of each member who has written to the bot."""
        self.moved: dict[ChatPlace, ChatPlace] = {}

    def member(self, number: int | None) -> Member | None:
        """The member with this number; None for everyone else."""
        return None if number is None else self._members.get(number)

    def places(self, project: str | None) -> tuple[ChatPlace, ...]:
        """Where the cards of a project go, by its name: its route, else all chats, else every private chat."""
        route = self._config.routes.get(project) if project is not None else None
        if route is not None:
            return (self.now_at(route),)
        if self._config.chats:
            return tuple(dict.fromkeys(self.now_at(place) for place in self._config.chats))
        return tuple(ChatPlace(chat) for number, chat in self.private.items() if number in self._members)

    def project_at(self, place: ChatPlace) -> str | None:
        """The only project whose cards go to this place, by its name."""
        names = [name for name, route in self._config.routes.items() if self.now_at(route) == place]
        return names[0] if len(names) == 1 else None

    def knows(self, place: ChatPlace, member: Member) -> bool:
        """Whether the bot talks there: in a member's own private chat, and in chats of the settings."""
        if place.chat == member.number:
            return True
        configured = (*self._config.chats, *self._config.routes.values())
        return place.chat in {self.now_at(each).chat for each in configured}

    def shows(self, place: ChatPlace, project: str | None) -> bool:
        """Whether what belongs to a project, by its name, may be read in a place.

        Private chats of members and the groups in `chats` show everything. A group that is only the route of some
        projects shows these; and of its topics, one that is a route shows the projects of that topic.
        """
        place = self.now_at(place)
        if place.chat > 0:
            return self.member(place.chat) is not None
        general = {self.now_at(each) for each in self._config.chats}
        routes = [(name, self.now_at(route)) for name, route in self._config.routes.items()]
        here = [name for name, route in routes if route == place]
        if here and place not in general:
            return project in here
        return place.chat in {each.chat for each in general} or (project, place.chat) in {
            (name, route.chat) for name, route in routes
        }

    def uses(self, chat: int) -> bool:
        """Whether the bot has anything to do with a chat, by its number."""
        configured = (*self._config.chats, *self._config.routes.values())
        return chat in self._members or chat in {at.chat for each in configured for at in (each, self.now_at(each))}

    def reader(self, place: ChatPlace) -> Member | None:
        """The only person who reads there; None for groups."""
        return self.member(next((number for number, chat in self.private.items() if chat == place.chat), None))

    def may_answer_at(self, place: ChatPlace) -> bool:
        """Whether buttons make sense there; in a group each press is checked."""
        reader = self.reader(place)
        return reader is None or reader.may("approver")

    def is_silent(self, at: datetime) -> bool:
        return self._config.quiet is not None and self._config.quiet.cover(at)

    def now_at(self, place: ChatPlace) -> ChatPlace:
        """Where this place's messages go now."""
        for _ in range(len(self.moved)):
            if place not in self.moved:
                break
            place = self.moved[place]
        return place


def needed_for(answer: Answer) -> Role:
    """The role that an answer needs. Trusting a directory lets its code run without asking, now and later."""
    return "admin" if isinstance(answer, Trusting) and answer.trust == "exactly" else "approver"
