"""Checks a channel: whether its server can be reached, its certificate is trusted, and the sign-in is accepted.

Sends no message, so what only a message shows is left open. Each check has the channel's own deadline.
"""

from handraise.channels.config import ChannelConfig, ChannelSecrets, connect
from handraise.channels.model import ChannelError
from handraise.doctor.checks import Finding, Verdict
from handraise.model.names import reveal
from handraise.texts import t

_NAME = "channel"


async def check_channel(config: ChannelConfig, secrets: ChannelSecrets, *, private: bool = False) -> Finding:
    """Whether a notification could be sent there. What may pass by itself is a warning.

    There is no advice: the sentence has the next step.
    """
    try:
        sentence = await connect(config, secrets, private=private).probe()
    except ChannelError as error:
        verdict: Verdict = "fail" if error.permanent else "warn"
        return Finding(_NAME, verdict, _named(config, error.sentence))
    return Finding(_NAME, "ok", _named(config, sentence))


def _named(config: ChannelConfig, sentence: str) -> str:
    return t("doctor.channel.named", name=reveal(config.name), sentence=sentence)
