"""Messages over a socket: a header in JSON, and arrays as safetensors.  Nothing that comes in is ever unpickled or evaluated.

A message is the four letters AGM1, the lengths of the header (4 bytes) and of the arrays (8 bytes), and these two.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from autograph.runtime.eager.extras import needed
from autograph.runtime.eager.stored import About, loaded, stored

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


def send(to: socket.socket, kind: str, fields: Mapping[str, Any] | None = None, arrays: Mapping[str, Any] | None = None) -> None:
    """Send a message.  Raises Closed."""
    parts = {name: stored(x) for name, x in (arrays or {}).items()}
    about = {name: said for name, (_, said) in parts.items()}
    header = json.dumps({"kind": kind, "arrays": about, **(fields or {})}).encode()
    body = needed("safetensors.numpy", "parameter_server").save({name: x for name, (x, _) in parts.items()}) if parts else b""
    try:
        to.sendall(_LENGTHS.pack(_MAGIC, len(header), len(body)) + header + body)
    except OSError as error:
        raise Closed(str(error)) from None


def receive(of: socket.socket, most: int = MOST_BYTES) -> Message:
    """The next message.

    Raises:
      Malformed: it is none, or has more than `most` bytes.
      Closed: there is no more, or it ends in the middle.
    """
    magic, header_length, length = _LENGTHS.unpack(_exactly(of, _LENGTHS.size))
    if magic != _MAGIC:
        raise Malformed("it does not begin as a message")
    if header_length > _MOST_HEADER or length > most:
        raise Malformed(f"it has {header_length} and {length} bytes, and at most {_MOST_HEADER} and {most} are taken")
    header, body = _exactly(of, header_length), _exactly(of, length)
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


def _exactly(of: socket.socket, count: int) -> bytes:
    parts, left = [], count
    while left:
        try:
            part = of.recv(min(left, 1 << 20))
        except OSError as error:
            raise Closed(str(error)) from None
        if not part:
            raise Closed("the connection has ended")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
