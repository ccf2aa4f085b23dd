"""Why a connection failed, in words: what to do differs from reason to reason."""

import errno
import socket
from collections.abc import Iterator
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit

ASKS_FOR_A_LOGIN = HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
TOO_MANY = HTTPStatus.TOO_MANY_REQUESTS
NOWHERE = (  # addresses for documentation (RFC 5737, RFC 3849): nobody's
    (socket.AF_INET, "192.0.2.1"),
    (socket.AF_INET6, "2001:db8::1"),
)


class Failure(NamedTuple):
    """What happened, without a full stop, and what to do: sentences, or ""."""

    what: str
    advice: str


def explain(error: Exception, address: str) -> Failure | None:
    """Why a request failed, from the exception of an HTTP client; None if this is not known.

    address: of the server that was asked.
    """
    import ssl  # not above: lessons import this module and hardly ever need it

    errors = list(chain(error))
    names = {base.__name__ for link in errors for base in type(link).__mro__}
    server = requested(error) or host(address)
    proxy = proxy_of(address)
    for link in errors:
        if isinstance(link, ssl.SSLCertVerificationError):
            return Failure(
                f"The certificate of {server} was refused ({link.verify_message})",
                "A company's or a school's proxy often puts its own in place of the server's: "
                "ask for its root certificate as a file, and name this file in the variable "
                "SSL_CERT_FILE before Python starts.",
            )
        status = getattr(getattr(link, "response", None), "status_code", 0)
        if status >= 500 or status in (ASKS_FOR_A_LOGIN, TOO_MANY):
            return of_status(status, address)
    # httpx has no more than the proxy's answer, such as "407 Proxy Authentication Required"
    if "ProxyError" in names and proxy:
        return refusing_proxy(proxy, str(error), server)
    # before anything is sent, a proxy is what is looked for and connected to
    looked_for = proxy or server
    for link in errors:
        if isinstance(link, socket.gaierror):
            if not has_route():
                return Failure("This machine is offline", "Connect it to a network.")
            name = looked_for.rsplit(":", 1)[0]
            return Failure(
                f"The name {name} could not be resolved ({link.strerror})",
                "Look for a typing error in the variables HF_ENDPOINT and HTTPS_PROXY, else ask "
                "who runs the network for its name server (DNS).",
            )
        if isinstance(link, OSError) and link.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
            return Failure("This machine is offline", "Connect it to a network.")
        if isinstance(link, ConnectionRefusedError):
            if proxy:
                return Failure(
                    f"The proxy {proxy} does not accept connections",
                    "Look at the variables HTTPS_PROXY and HTTP_PROXY, which name it.",
                )
            return Failure(
                f"Nothing accepts connections at {server}",
                "Look for a typing error in the variable HF_ENDPOINT, if it is set.",
            )
    if "TimeoutException" in names or any(isinstance(link, TimeoutError) for link in errors):
        return Failure(f"No answer came from {looked_for} in time", "Try again later.")
    return None


def of_status(status: int, address: str) -> Failure:
    """The failure that an answer with this HTTP status is."""
    reason = " ".join([str(status), *(item.phrase for item in HTTPStatus if item == status)])
    proxy = proxy_of(address)
    if proxy and status == ASKS_FOR_A_LOGIN:
        return refusing_proxy(proxy, reason, host(address))
    return Failure(f"{host(address)} answered with an error ({reason})", "Try again later.")


def refusing_proxy(proxy: str, reason: str, server: str) -> Failure:
    """The failure that a proxy is which lets no request through.

    reason: its answer, such as "407 Proxy Authentication Required".
    """
    advice = f"Ask who runs it to allow {server}."
    if reason.startswith(str(int(ASKS_FOR_A_LOGIN))):
        advice = (
            f"It wants a name and a password: set HTTPS_PROXY=http://NAME:PASSWORD@{proxy} before "
            "Python starts."
        )
    return Failure(f"The proxy {proxy} refused the request ({reason})", advice)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and those that led to it, the last one first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def requested(error: Exception) -> str:
    """The server that a failed request was for, after redirects; "" if the exception does not say."""
    try:
        return host(str(error.request.url))  # type: ignore[attr-defined]
    except (AttributeError, RuntimeError):  # httpx's property raises where there is no request
        return ""


def host(address: str) -> str:
    """The name and port in an address, without a password."""
    return urlsplit(address).netloc.rsplit("@", 1)[-1]


def proxy_of(address: str) -> str:
    """The name and port of the proxy through which an address is asked; "" if none is set."""
    from urllib.request import getproxies, proxy_bypass

    server = urlsplit(address)
    proxies = getproxies()
    proxy = proxies.get(server.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(server.netloc):
        return ""
    return host(proxy if "://" in proxy else f"http://{proxy}")


def has_route() -> bool:
    """Whether this machine knows a way to others. Nothing is sent."""
    for family, address in NOWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((address, 9))
                return True
        except OSError:
            continue
    return False
