"""Messages over a socket: a header in JSON, and arrays as safetensors.  Nothing that comes in is ever unpickled or evaluated.

A message is the four letters AGM1, the lengths of the header (4 bytes) and of the arrays (8 bytes), and these two.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from autograph.runtime.eager.stored import About, loaded, stored
from autograph.runtime.errors.extras import needed

_MAGIC = b"AGM1"
_LENGTHS = struct.Struct("!4sIQ")
_MOST_HEADER = 1 << 20
MOST_BYTES = 1 << 30  # of arrays in one message


class Malformed(Exception):
    """What came is no message; the text says why."""


class Closed(Exception):
    """The other side has gone."""


class Message(NamedTuple):
    kind: str
    fields: dict[str, Any]
    arrays: dict[str, Any]


def written(kind: str, fields: Mapping[str, Any] | None = None, arrays: Mapping[str, Any] | None = None) -> bytes:
    """A message as bytes."""
    parts = {name: stored(x) for name, x in (arrays or {}).items()}
    about = {name: said for name, (_, said) in parts.items()}
    header = json.dumps({"kind": kind, "arrays": about, **(fields or {})}).encode()
    body = needed("safetensors.numpy", "parameter_server").save({name: x for name, (x, _) in parts.items()}) if parts else b""
    return _LENGTHS.pack(_MAGIC, len(header), len(body)) + header + body


def send_all(to: socket.socket, data: bytes) -> None:
    """Send some bytes.  Raises Closed."""
    try:
        to.sendall(data)
    except OSError as error:
        raise Closed(str(error)) from None


def receive(
    of: socket.socket, most: int = MOST_BYTES, idle: float | None = None, whole: float | None = None, signature: int = 0,
    check: Callable[[bytes, bytes], None] = lambda data, signature: None,
) -> Message:  # fmt: skip
    """The next message, and so many bytes of a signature behind it, which `check` is given with the message's own: nothing is read of it before.

    It may take `idle` seconds until it begins, and `whole` from then on.

    Raises:
      Malformed: it is none, or has more than `most` bytes.
      Closed: there is no more, it ends in the middle, or takes too long.
    """
    first = exactly(of, 1, None if idle is None else time.monotonic() + idle)
    until = None if whole is None else time.monotonic() + whole
    start = first + exactly(of, _LENGTHS.size - 1, until)
    magic, header_length, length = _LENGTHS.unpack(start)
    if magic != _MAGIC:
        raise Malformed("it does not begin as a message")
    if header_length > _MOST_HEADER or length > most:
        raise Malformed(f"it has {header_length} and {length} bytes, and at most {_MOST_HEADER} and {most} are taken")
    header, body = exactly(of, header_length, until), exactly(of, length, until)
    check(start + header + body, exactly(of, signature, until))
    try:
        fields = json.loads(header)
        kind, about = fields.pop("kind"), {name: About(**said) for name, said in fields.pop("arrays").items()}
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise Malformed("its header is no JSON object with a kind and the types of arrays") from None
    if not isinstance(kind, str):
        raise Malformed("its kind is no text")
    if not body:
        return Message(kind, fields, {})
    tensors = needed("safetensors.numpy", "parameter_server")
    try:
        arrays = tensors.load(body)
        return Message(kind, fields, {name: loaded(arrays[name], said) for name, said in about.items()})
    except (needed("safetensors", "parameter_server").SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Malformed(f"its arrays cannot be read: {error}") from None


def exactly(of: socket.socket, count: int, until: float | None = None) -> bytes:
    """So many bytes, by a time of `time.monotonic`.  Raises Closed."""
    parts, left = [], count
    while left:
        try:
            of.settimeout(None if until is None else max(until - time.monotonic(), 1e-3))
            part = of.recv(min(left, 1 << 20))
        except TimeoutError:
            raise Closed("it takes too long") from None
        except OSError as error:
            raise Closed(str(error)) from None
        if not part:
            raise Closed("the connection has ended")
        parts.append(part)
        left -= len(part)
        if until is not None and left and time.monotonic() > until:
            raise Closed("it takes too long")
    return b"".join(parts)
