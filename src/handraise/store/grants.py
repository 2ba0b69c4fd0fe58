"""What an answer grants beyond its ask, the same for every store. Never decides whether it took effect."""

from handraise.model.actors import Person
from handraise.model.answers import Trusting
from handraise.model.asks import Answered, Ask, Settlement
from handraise.model.trust import DirectoryTrust, Trust


def trust_in(ask: Ask, settlement: Settlement) -> DirectoryTrust | None:
    """What a person decided about a directory; no rule and no deadline decides that."""
    match ask.body, settlement:
        case Trust(directory=directory), Answered(answer=Trusting(level), by=Person(name=name), source=source, at=at):
            return DirectoryTrust(directory, level, ask.digest, name, source, at, ask.id)
        case _:
            return None
