"""Where a message may go: a push service on the public internet. Pure. Every viewer can name one, so it is checked."""

from handraise.model.devices import Unusable
from handraise.surfaces import endpoints
from handraise.surfaces.endpoints import BadEndpoint, Endpoint
from handraise.texts import t

_SENTENCES = {
    "address": "push.error.address",
    "https": "push.error.https",
    "not_found": "push.error.not_found",
    "private": "push.error.private",
}


def read_endpoint(address: str, *, private: bool = False) -> Endpoint:
    """Raises Unusable. `private` is for tests and self-hosted push services: it also allows plain HTTP."""
    try:
        return endpoints.read_endpoint(address, private=private)
    except BadEndpoint as error:
        raise Unusable(t(_SENTENCES[error.reason])) from error


def check_addresses(addresses: list[str], *, private: bool = False) -> None:
    """Raises Unusable unless all of them are public: a private one could be the one that is used."""
    try:
        endpoints.check_addresses(addresses, private=private)
    except BadEndpoint as error:
        raise Unusable(t(_SENTENCES[error.reason])) from error
