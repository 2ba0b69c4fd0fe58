"""A person who presses the buttons of one card and replies to it, with time passing."""

from datetime import datetime, timedelta

from handraise.model.answers import Allow, Answer, Approve, Filled, Trusting
from handraise.model.asks import Ask, Body, is_link
from handraise.surfaces.telegram.cards import CardButton, CardMessages, render
from handraise.surfaces.telegram.conversation import CardState, Next, Outcome, SendAnswer, Toast, press, reply
from present.asked import NOON, ask_of

CALM = 2.0
PAGE = "https://hub.example.org/#/asks/a_1"


def grants(body: Body, answer: Answer) -> bool:
    """Whether an answer allows something."""
    match answer:
        case Allow() | Approve() | Trusting(trust="exactly"):
            return True
        case Filled(action="accept"):
            return is_link(body)
        case _:
            return False


class CardReader:
    """Sees what is shown, and acts on it. Whatever is shown changes at once."""

    def __init__(self, body: Body, **more: object) -> None:
        self.ask: Ask = ask_of(body, **more)  # type: ignore[arg-type]  # the fields of an ask
        self.state = CardState()
        self.now: datetime = NOON
        self.shown_at: datetime = NOON
        self.answer: Answer | None = None
        self.toast = ""
        self._seen: tuple[Ask, CardState, CardMessages] | None = None

    @property
    def card(self) -> CardMessages:
        """Rendered once for each state."""
        if self._seen is None or self._seen[0] is not self.ask or self._seen[1] is not self.state:
            self._seen = (self.ask, self.state, render(self.ask, None, self.state, title="Fix it", link=PAGE))
        return self._seen[2]

    @property
    def text(self) -> str:
        return self.card.parts[-1].text

    @property
    def buttons(self) -> list[CardButton]:
        return [button for row in self.card.keyboard for button in row]

    @property
    def labels(self) -> list[list[str]]:
        return [[button.label for button in row] for row in self.card.keyboard]

    def tap(self, *labels: str, after: float = CALM) -> Outcome:
        """Presses buttons by the start of their labels, each some seconds after the one before."""
        for label in labels:
            found = [button for button in self.buttons if button.label.startswith(label)]
            assert found, f"{label}: {self.labels}"
            outcome = self.press(found[0], after=after)
        return outcome

    def press(self, button: CardButton, *, after: float = CALM) -> Outcome:
        self.now += timedelta(seconds=after)
        return self._see(
            press(self.ask, None, self.state, button.act, button.argument, shown_at=self.shown_at, now=self.now)
        )

    def reply(self, text: str) -> Outcome:
        return self._see(reply(self.ask, None, self.state, text))

    def _see(self, outcome: Outcome) -> Outcome:
        self.toast = ""
        match outcome:
            case Next(state=state):
                assert state.revision == self.state.revision + 1
                self.state, self.shown_at = state, self.now
            case SendAnswer(answer=answer):
                self.answer = answer
            case Toast(sentence=sentence):
                self.toast = sentence
        return outcome
