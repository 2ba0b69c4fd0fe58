"""The phases of a session and every change from one to another, in one table. Pure."""

from typing import Literal

from handraise.model.sessions import Phase

Event = Literal[
    "launched",
    "greeted",
    "turn began",
    "turn ended",
    "park",
    "stop",
    "exited",
    "failed",
    "not found",
    "no conversation",
    "wake",
    "resume",
]
"""What happened to a session, or what a person wants of it:

launched         a process of Claude is being started
greeted          Claude acknowledged our first message
turn began       Claude started to work on a message
turn ended       Claude reported the result of a turn
park             the session is idle, and another one needs its slot
stop             a person, a limit or an alarm stops the session
exited           the process ended, by itself or because we asked it to
failed           the process could not be started, or was ended after an error
not found        a starting hub found no process
no conversation  Claude had no conversation to resume
wake             a message arrived for a parked session
resume           a person continues a session that has ended
"""

INITIAL: Phase = "queued"

TRANSITIONS: dict[Phase, dict[Event, Phase]] = {
    "queued": {"launched": "starting", "stop": "ended"},
    "starting": {
        "greeted": "idle",
        "turn began": "working",
        "turn ended": "starting",  # no turn had started: this is why Claude is about to exit
        "stop": "stopping",
        "exited": "ended",
        "failed": "ended",
        "not found": "queued",
        "no conversation": "queued",
    },
    "idle": {
        "greeted": "idle",
        "turn began": "working",
        "turn ended": "idle",
        "park": "parking",
        "stop": "stopping",
        "exited": "ended",
        "failed": "ended",
        "not found": "ended",
    },
    "working": {
        "greeted": "working",
        "turn began": "working",
        "turn ended": "idle",
        "stop": "stopping",
        "exited": "ended",
        "failed": "ended",
        "not found": "ended",
    },
    "parking": {
        "greeted": "parking",
        "turn began": "parking",
        "turn ended": "parking",
        "stop": "stopping",
        "exited": "parked",
        "failed": "ended",
        "not found": "parked",
    },
    "parked": {"wake": "queued", "stop": "ended"},
    "stopping": {
        "greeted": "stopping",
        "turn began": "stopping",
        "turn ended": "stopping",
        "stop": "stopping",
        "exited": "ended",
        "failed": "ended",
        "not found": "ended",
    },
    "ended": {"resume": "queued"},
}


class NoTransition(Exception):
    """The event cannot happen in this phase: a bug of ours."""

    def __init__(self, phase: Phase, event: Event) -> None:
        super().__init__(f"{event!r} has no effect on a session that is {phase}")
        self.phase = phase
        self.event = event


def after(phase: Phase, event: Event) -> Phase:
    """The next phase; raises NoTransition."""
    following = TRANSITIONS[phase].get(event)
    if following is None:
        raise NoTransition(phase, event)
    return following


def diagram() -> str:
    """The table as a Mermaid diagram; events that change nothing are left out."""
    lines = ["stateDiagram-v2", f"    [*] --> {INITIAL}"]
    for phase, row in TRANSITIONS.items():
        for following in dict.fromkeys(row.values()):
            events = [event for event, reached in row.items() if reached == following]
            if following != phase:
                lines.append(f"    {phase} --> {following}: {', '.join(events)}")
    return "\n".join(lines)
