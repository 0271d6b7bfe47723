"""A small stand-in for the Hugging Face hub: real HTTP on this machine, with faults on demand.

`Hub` serves one file at ``/{repo}/resolve/{revision}/{file}``. As the real hub does with large
files, it answers with a redirect to a second host (here: a second port), the "CDN", which has the
bytes and understands Range. Both note every request in `log`. Both take faults: an iterator of
functions, one for each GET request that comes; None stands for a good answer::

    hub.cdn.faults = iter([None, cut_halfway])   # the second request is cut, all others are well
    hub.faults = repeat(status(500))             # it never recovers

A fault is called with the request's handler in place of the good answer, and tells what to send.
"""

import contextlib
import hashlib
import json
import re
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import prod

from posembed.weights import FILENAME, REPOSITORY, REVISION

CHUNK = 1 << 16
PATIENCE = 3.0  # seconds after which a fault that would last for ever ends all the same


# --- the file that is served ----------------------------------------------------------------


class VirtualFile:
    """A file of `size` bytes, all zero except for `pieces`, a dict of offset: bytes."""

    def __init__(self, size, pieces):
        self.size, self.pieces = size, pieces
        parts = b"".join(b"%d:%b" % part for part in sorted(pieces.items()))
        self.etag = hashlib.sha256(b"%d %b" % (size, parts)).hexdigest()

    def read(self, start, stop):
        data = bytearray(max(0, min(stop, self.size) - start))
        for offset, piece in self.pieces.items():
            begin, end = max(start, offset), min(start + len(data), offset + len(piece))
            if begin < end:
                data[begin - start : end - start] = piece[begin - offset : end - offset]
        return bytes(data)


def real_file(data):
    """Return a small file that is held as it is."""
    return VirtualFile(len(data), {0: data})


def safetensors_file(shapes, arrays, names=None):
    """Return a virtual safetensors file of float32 tensors, zero where `arrays` has none.

    `shapes` is a dict of name: shape, `arrays` one of name: bytes, and `names` the order in which
    the tensors lie in the file.
    """
    header, pieces, offset = {"__metadata__": {"format": "pt"}}, {}, 0
    for name in names or sorted(shapes):
        end = offset + 4 * prod(shapes[name])
        header[name] = {"dtype": "F32", "shape": shapes[name], "data_offsets": [offset, end]}
        pieces[offset] = arrays.get(name, b"")
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    start = 8 + len(text)
    pieces = {start + at: piece for at, piece in pieces.items() if piece}
    return VirtualFile(start + offset, pieces | {0: len(text).to_bytes(8, "little") + text})


def gpt2_shapes():
    """Return the name and shape of each of the 160 tensors in GPT-2 small's published file.

    Laid out by name they take 548,105,227 bytes. The published file, whose header lists them in
    another way, has 548,105,171; its 548,090,880 bytes of data are these.
    """
    layer = {
        "attn.bias": [1, 1, 1024, 1024],
        "attn.c_attn.bias": [2304],
        "attn.c_attn.weight": [768, 2304],
        "attn.c_proj.bias": [768],
        "attn.c_proj.weight": [768, 768],
        "ln_1.bias": [768],
        "ln_1.weight": [768],
        "ln_2.bias": [768],
        "ln_2.weight": [768],
        "mlp.c_fc.bias": [3072],
        "mlp.c_fc.weight": [768, 3072],
        "mlp.c_proj.bias": [768],
        "mlp.c_proj.weight": [3072, 768],
    }
    shapes = {f"h.{i}.{name}": shape for i in range(12) for name, shape in layer.items()}
    return shapes | {
        "ln_f.bias": [768],
        "ln_f.weight": [768],
        "wpe.weight": [1024, 768],
        "wte.weight": [50257, 768],
    }


# --- the two servers ------------------------------------------------------------------------


class Request:
    """What is remembered of one request; `sent` counts the bytes of the answer's body."""

    def __init__(self, method, path, headers):
        self.method, self.path, self.headers, self.sent = method, path, dict(headers), 0

    @property
    def range(self):
        return self.headers.get("Range")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each small answer waits 40 ms for an acknowledgement

    def do_GET(self):
        self.request_record = Request(self.command, self.path, self.headers)
        self.server.log.append(self.request_record)
        fault = next(self.server.faults, None) if self.command == "GET" else None
        try:
            (fault or type(self).answer)(self)
            self.wfile.flush()
        except ConnectionError:  # the client has gone
            self.close_connection = True

    do_HEAD = do_GET

    def log_message(self, *args):
        pass

    def head(self, status, length, **headers):
        """Send status and headers; underscores in the names stand for hyphens."""
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def body(self, data):
        if self.command != "HEAD":
            self.wfile.write(data)
            self.request_record.sent += len(data)

    def reply(self, status, data=b"", **headers):
        self.head(status, len(data), **headers)
        self.body(data)

    def asked(self):
        """Return start and stop of the bytes that the Range header asks for, or None."""
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not match:
            return None
        stop = int(match[2]) + 1 if match[2] else self.server.file.size
        return int(match[1]), min(stop, self.server.file.size)

    def part_headers(self, start, stop):
        return {
            "Content_Range": f"bytes {start}-{stop - 1}/{self.server.file.size}",
            "Accept_Ranges": "bytes",
            "ETag": f'"{self.server.file.etag}"',
        }


class _HubHandler(_Handler):
    def answer(self):
        file, cdn = self.server.file, self.server.cdn
        if self.path.split("?")[0] != self.server.path:
            return self.reply(404, b"Entry not found", X_Error_Code="EntryNotFound")
        self.reply(
            302,
            f"Found. Redirecting to {cdn.url}".encode(),
            Location=f"{cdn.url}/{file.etag}?filename={self.path.rpartition('/')[2]}",
            X_Repo_Commit=REVISION,
            X_Linked_Size=str(file.size),
            X_Linked_ETag=f'"{file.etag}"',
            ETag=f'"{file.etag}"',
            Accept_Ranges="bytes",
        )


class _CdnHandler(_Handler):
    def answer(self):
        file, asked = self.server.file, self.asked()
        if self.path.split("?")[0] != f"/{file.etag}":
            return self.reply(403, b"<Error><Code>AccessDenied</Code></Error>")
        if asked is None:
            return ignore_range(self)
        start, stop = asked
        if start >= stop:
            return self.reply(416, Content_Range=f"bytes */{file.size}")
        self.head(206, stop - start, **self.part_headers(start, stop))
        for at in range(start, stop, CHUNK):
            self.body(file.read(at, min(stop, at + CHUNK)))


class _Server(ThreadingHTTPServer):
    """One of the two; `closing` tells handlers that dawdle on purpose to stop."""

    def __init__(self, handler, file):
        super().__init__(("127.0.0.1", 0), handler)
        self.file, self.log, self.faults, self.closing = file, [], iter(()), threading.Event()
        self._connections = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def get_request(self):
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):  # a client may leave at any time
            super().handle_error(request, client_address)

    def stop(self):
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
        for connection in self._connections:  # none may outlive the test in the client's pool
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Hub:
    """The hub and its CDN, in threads of this process, as a context manager."""

    def __init__(self, file):
        self._hub, self.cdn = _Server(_HubHandler, file), _Server(_CdnHandler, file)
        self._hub.cdn = self.cdn
        self._hub.path = f"/{REPOSITORY}/resolve/{REVISION}/{FILENAME}"
        self.url, self.log = self._hub.url, self._hub.log

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._hub.stop()
        self.cdn.stop()

    @property
    def file(self):
        return self._hub.file

    @file.setter
    def file(self, file):
        self._hub.file = self.cdn.file = file

    @property
    def faults(self):
        return self._hub.faults

    @faults.setter
    def faults(self, faults):
        self._hub.faults = faults

    @property
    def sent(self):
        """How many bytes of bodies both have sent."""
        return sum(request.sent for request in (*self.log, *self.cdn.log))


# --- faults ---------------------------------------------------------------------------------


def status(code, data=b"", **headers):
    """Answer with a status, and a body if there is one."""
    return lambda handler: handler.reply(code, data, **headers)


def html(code):
    """Answer with a page, as the log-in page of a wireless network does."""

    def fault(handler):
        page = b"<!DOCTYPE html><html><body>Please log in to this network.</body></html>"
        handler.reply(code, page, Content_Type="text/html")

    return fault


def ignore_range(handler):
    """Answer with status 200 and the whole file, whatever part was asked for."""
    file = handler.server.file
    handler.head(200, file.size, ETag=f'"{file.etag}"', Accept_Ranges="bytes")
    if handler.command != "HEAD":
        for at in range(0, file.size, CHUNK):
            handler.body(file.read(at, at + CHUNK))


def cut_halfway(handler):
    """Promise the whole part and close the connection after half of it."""
    start, stop = handler.asked()
    handler.head(206, stop - start, **handler.part_headers(start, stop))
    handler.body(handler.server.file.read(start, (start + stop) // 2))
    handler.close_connection = True


def other_length(change):
    """Answer with `change` bytes more or fewer than the part has, and say so honestly."""

    def fault(handler):
        start, stop = handler.asked()
        data = handler.server.file.read(start, stop)
        data = data + bytes(change) if change > 0 else data[:change]
        handler.reply(206, data, **handler.part_headers(start, stop))

    return fault


def from_the_start(handler):
    """Answer with a part of the right length, but from the start of the file."""
    start, stop = handler.asked()
    data = handler.server.file.read(0, stop - start)
    handler.reply(206, data, **handler.part_headers(0, stop - start))


def silent(handler):
    """Take the request and never answer."""
    handler.server.closing.wait(PATIENCE)
    handler.close_connection = True


def silent_halfway(handler):
    """Send half of the part, then nothing more, and keep the connection open."""
    start, stop = handler.asked()
    handler.head(206, stop - start, **handler.part_headers(start, stop))
    handler.body(handler.server.file.read(start, (start + stop) // 2))
    handler.wfile.flush()
    silent(handler)


def trickle(code, pause=0.02):
    """Send a body without an end, one byte after another, each in time for the client's timeout."""

    def fault(handler):
        handler.head(code, 10**9)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and not handler.server.closing.wait(pause):
            handler.body(b"0")
        handler.close_connection = True

    return fault


def not_http(handler):
    """Answer in another protocol."""
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.9\r\n")
    handler.close_connection = True


def hang_up(handler):
    """Close the connection without an answer."""
    handler.close_connection = True


def to_itself(handler):
    """Redirect for ever."""
    handler.reply(302, Location=handler.path)
