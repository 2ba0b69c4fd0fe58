"""Claude is not signed in: how its frames show it, and what a person does about it. Pure; never compares prose."""

import shlex

from handraise.wire import frames

_CODE = "authentication_failed"
_NO_KEY = ("", "none")
_OF_THE_HUB = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
"""Keys that Claude inherits from the hub's environment."""


def is_refused(frame: frames.Assistant | frames.ApiRetry) -> bool:
    """Whether the frame says that Claude has no sign-in, or one that the API refused."""
    return frame.error == _CODE


def advice(program: str, key_source: str, own: str = "") -> str:
    """What to do, with the very program that the hub runs. `key_source` is where Claude says that its key is from.

    `own` is what Claude says of it: a key may be refused for more than one reason.
    """
    if key_source in _NO_KEY:
        command = f"{shlex.quote(program)} auth login"
        return f"Claude isn't signed in. Run `{command}` in a terminal, then send your message again."
    then = "restart the hub, then" if key_source in _OF_THE_HUB else "then"
    text = f"Claude's API key was rejected (from {key_source[:100]}). Correct it, {then} send your message again."
    return f"{text}\n{own}" if own else text
