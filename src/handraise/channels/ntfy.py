"""Sends over an ntfy server, public or one's own. Never retries, and lets no token into an error or a log."""

import ssl
from urllib.parse import urlsplit

from handraise.channels.config import ChannelConfig, ChannelSecrets
from handraise.channels.model import ChannelError, ChannelMessage, ChannelReceipt
from handraise.channels.ntfy_messages import (
    accepted_sequence,
    authorization,
    is_gone,
    is_healthy,
    publication,
    refusal,
    sequence_id,
    signed_in_as,
)
from handraise.channels.outbound import DEADLINE, NoReply, OutboundClient, OutboundReply, Resolve, resolve
from handraise.texts import t

_NOBODY = "*"


class NtfyChannel:
    """One topic on one server."""

    def __init__(
        self,
        config: ChannelConfig,
        secrets: ChannelSecrets,
        *,
        private: bool = False,
        resolve: Resolve = resolve,
        trust: ssl.SSLContext | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        self._server = config.fields["server"]
        self._topic = config.fields["topic"]
        self._login = authorization(config.fields.get("user", ""), secrets.get("password"), secrets.get("token"))
        self._http = OutboundClient(private=private, resolve=resolve, trust=trust, deadline=deadline)

    def __repr__(self) -> str:
        return f"NtfyChannel({self._host!r})"

    @property
    def _host(self) -> str:
        return urlsplit(self._server).netloc

    def describe(self) -> str:
        # Without its topic: on a public server, it is all that someone needs to read along.
        return t("channels.ntfy.describe", server=self._host)

    async def send(self, message: ChannelMessage) -> ChannelReceipt:
        reply = await self._request("POST", "/", publication(self._topic, message))
        if not 200 <= reply.status < 300:
            raise refusal(reply.status, reply.headers, self._host)
        return ChannelReceipt(accepted_sequence(reply.body))

    async def retract(self, receipt: ChannelReceipt, message: ChannelMessage) -> bool:
        if receipt.data != sequence_id(message.id):
            return False
        reply = await self._request("DELETE", f"/{self._topic}/{receipt.data}")
        if is_gone(reply.status):
            return False
        if not 200 <= reply.status < 300:
            raise refusal(reply.status, reply.headers, self._host)
        return True

    async def probe(self) -> str:
        """Whether the server works and accepts the sign-in. Whether it may publish shows only when it does."""
        reply = await self._request("GET", "/v1/health")
        if reply.status != 200 or not is_healthy(reply.body):
            known = reply.status >= 300 and not is_gone(reply.status)
            raise refusal(reply.status if known else 404, reply.headers, self._host)
        if not self._login:
            return t("channels.ntfy.works", server=self._host)
        reply = await self._request("GET", "/v1/account")
        if reply.status != 200:
            raise refusal(reply.status, reply.headers, self._host)
        user = signed_in_as(reply.body)
        if user in ("", _NOBODY):
            return t("channels.ntfy.works", server=self._host)
        return t("channels.ntfy.signed_in", server=self._host)

    async def _request(self, method: str, path: str, body: bytes = b"") -> OutboundReply:
        headers = {**self._login, **({"content-type": "application/json"} if body else {})}
        try:
            return await self._http.request(method, self._server + path, headers, body)
        except NoReply as error:
            trouble, maybe_sent = error.trouble, error.maybe_sent and method == "POST"
        raise ChannelError(
            t(f"channels.ntfy.network.{trouble}", server=self._host),
            permanent=trouble in ("private", "plain"),
            maybe_sent=maybe_sent,
        )
