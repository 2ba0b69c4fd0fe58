"""The dangers of a call in words: one sentence each, the same on every surface. Pure."""

from collections.abc import Sequence

from msgspec import Struct

from handraise.model.asks import Body, dangers_of
from handraise.model.dangers import Danger
from handraise.model.lookalikes import lookalikes
from handraise.present.headlines import quoted
from handraise.texts import t


def dangers_in_words(found: Body | Sequence[Danger]) -> tuple[str, ...]:
    """The worst first; foreign text is in backquotes."""
    return tuple(_sentence(each) for each in (dangers_of(found) if isinstance(found, Struct) else found))


def _sentence(danger: Danger) -> str:
    letters = ", ".join(
        t("card.danger_letter", letter=letter, code=f"U+{ord(letter):04X}", like=like)
        for letter, like in lookalikes(danger.what)
    )
    return t(f"card.danger.{danger.kind}", what=quoted(danger.what), letters=letters)
