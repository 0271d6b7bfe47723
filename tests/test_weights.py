"""The loader of GPT-2's weights: places, faults, caches, through the hub's real client.

Most tests load two small seeded tensors that stand in for GPT-2's, so that they run anywhere. What
the fixtures `own_caches` and `serve` (conftest.py) promise holds for all: no user's cache is
touched, and after every fault the course's cache is empty or holds good files only.
"""

import errno
import hashlib
import json
import math
import os
import pickle
import re
import socket
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager, suppress
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from huggingface_hub import constants, hf_hub_download
from safetensors.numpy import save_file

import posembed.__main__
from posembed import WeightsError, load_tensor, load_wpe, weights
from tests import hub_server
from tests.hub_server import VirtualFile, real_file, safetensors_file, status

RNG = np.random.default_rng(2)
ARRAYS = {
    "wpe.weight": RNG.standard_normal((16, 8), dtype=np.float32),
    "h.0.ln_1.weight": RNG.standard_normal(8, dtype=np.float32),
}
W = ARRAYS["wpe.weight"]
TENSORS = {
    name: (array.shape, hashlib.sha256(array.tobytes()).hexdigest())
    for name, array in ARRAYS.items()
}
SHAPES = {name: list(array.shape) for name, array in ARRAYS.items()} | {"a.weight": [3, 5]}
FILE = safetensors_file(SHAPES, {name: array.tobytes() for name, array in ARRAYS.items()})
PUBLISHED = weights.TENSORS
TIMES = len(weights.WAITS) + 1  # how often one request is tried

SLICE = os.environ.get(weights.SOURCE_VARIABLE)
needs_slice = pytest.mark.skipif(
    not SLICE, reason=f"{weights.SOURCE_VARIABLE} does not name GPT-2's weights"
)


@pytest.fixture(autouse=True)
def stand_in(own_caches, monkeypatch):
    """Load the small tensors in place of GPT-2's."""
    monkeypatch.setattr(weights, "TENSORS", TENSORS)


@pytest.fixture(autouse=True)
def naps(monkeypatch):
    """Note how long the loader would wait between tries, and do not wait."""
    naps = []
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=naps.append)
    monkeypatch.setattr(weights, "time", clock)
    return naps


@pytest.fixture
def hub(serve):
    return serve(FILE)


def failure(load=load_wpe, *args):
    """Return the message of a load that must fail; check what holds for every message."""
    with pytest.raises(Exception) as caught:
        load(*args)
    assert type(caught.value) is WeightsError
    message = str(caught.value)
    assert "\n" not in message and "Traceback" not in message
    assert len(message) < 1000
    assert weights.SOURCE_VARIABLE in message  # what to do next
    return message


def cached(name="wpe.weight"):
    """Return what the course's cache holds of a tensor, or None."""
    file = weights._cache_file(name)
    return file.read_bytes() if file.is_file() else None


def checkpoint(file, **changes):
    """Write a safetensors file of the small tensors, some changed or (None) left out."""
    arrays = ARRAYS | {name.replace("__", "."): array for name, array in changes.items()}
    save_file({name: array for name, array in arrays.items() if array is not None}, file)
    return file


# --- the array, and the places it is looked for ---------------------------------------------


@pytest.mark.parametrize("place", ["source", "hub", "cache"])
def test_array_is_fresh_writable_float32(place, hub, tmp_path):
    """A reader may change the array; the next load must not see it."""
    source = checkpoint(tmp_path / "model.safetensors") if place == "source" else None
    if place == "cache":
        load_wpe()
    first = load_wpe(source)
    assert (first.dtype, first.shape) == (np.float32, W.shape)
    assert first.flags.writeable and first.flags.c_contiguous
    np.testing.assert_array_equal(first, W)
    first[:] = 0
    np.testing.assert_array_equal(load_wpe(source), W)


def test_every_tensor_by_name(hub):
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(load_tensor(name), array)


@pytest.mark.parametrize("name", ["wte.weight", "transformer.wpe.weight", "", None])
def test_unknown_name(name, hub):
    """A typing error is the caller's, and no reason to ask the hub."""
    with pytest.raises(ValueError, match="name must be one of.*wpe.weight.*not") as caught:
        load_tensor(name)
    assert type(caught.value) is ValueError
    assert not hub.log


def test_source_comes_before_the_variable(hub, tmp_path, monkeypatch):
    monkeypatch.setenv(weights.SOURCE_VARIABLE, str(tmp_path / "missing"))
    np.testing.assert_array_equal(load_wpe(checkpoint(tmp_path / "a.safetensors")), W)


@pytest.mark.parametrize("folder", [False, True])
def test_variable_comes_before_cache_and_hub(folder, hub, tmp_path, monkeypatch, own_caches):
    """A named file is neither copied to the cache nor compared with it."""
    file = checkpoint(tmp_path / "model.safetensors")
    monkeypatch.setenv(weights.SOURCE_VARIABLE, str(tmp_path if folder else file))
    np.testing.assert_array_equal(load_wpe(), W)
    assert not own_caches.exists()
    assert not hub.log


def test_no_other_place_after_a_named_file(hub, tmp_path, monkeypatch):
    """Who names a file wants that one: a good cache and a good hub must not hide a mistake."""
    load_wpe()
    monkeypatch.setenv(weights.SOURCE_VARIABLE, str(tmp_path / "missing"))
    asked = len(hub.log)
    assert "There is no file" in failure()
    assert len(hub.log) == asked


def test_empty_variable_counts_as_unset(hub, monkeypatch):
    monkeypatch.setenv(weights.SOURCE_VARIABLE, "")
    np.testing.assert_array_equal(load_wpe(), W)


def test_cache_comes_before_the_hugging_face_cache_and_the_hub(hub, monkeypatch):
    load_wpe()
    asked = len(hub.log)
    monkeypatch.setattr(weights, "_from_hub_cache", lambda name: pytest.fail("was asked"))
    np.testing.assert_array_equal(load_wpe(), W)
    assert len(hub.log) == asked


def hugging_face_cache():
    """Fill the Hugging Face cache as every other program does; return the checkpoint's path."""
    return Path(
        hf_hub_download(weights.REPOSITORY, weights.FILENAME, revision=weights.REVISION)
    ).resolve()


def test_hugging_face_cache_comes_before_the_hub(hub):
    hugging_face_cache()
    hub.faults = repeat(status(500))
    np.testing.assert_array_equal(load_wpe(), W)
    assert cached() == W.tobytes()


@pytest.mark.parametrize("damage", ["truncated", "other values", "not a folder"])
def test_damaged_hugging_face_cache_is_left_to_the_hub(damage, hub):
    """It isn't ours to repair, and no reason to fail."""
    file = hugging_face_cache()
    if damage == "truncated":
        file.write_bytes(file.read_bytes()[:-100])
    elif damage == "other values":
        checkpoint(file, wpe__weight=W + 1)
    else:
        snapshots = file.parents[1] / "snapshots"
        snapshots.rename(file.parents[1] / "elsewhere")
        snapshots.write_bytes(b"")
    np.testing.assert_array_equal(load_wpe(), W)
    assert cached() == W.tobytes()


# --- the hub --------------------------------------------------------------------------------


def test_only_header_and_tensor_are_requested(hub):
    load_wpe()
    size = int.from_bytes(FILE.read(0, 8), "little")
    begin, end = json.loads(FILE.read(8, 8 + size))["wpe.weight"]["data_offsets"]
    parts = ["0-7", f"8-{7 + size}", f"{8 + size + begin}-{7 + size + end}"]
    assert [request.range for request in hub.cdn.log] == [f"bytes={part}" for part in parts]
    assert [request.method for request in hub.log + hub.cdn.log] == ["GET"] * 6


def test_bytes_of_the_real_layout(serve, monkeypatch):
    """At most 3.3 MB of a file of GPT-2's size, wherever the tensor lies in it."""
    table = np.random.default_rng(3).standard_normal((1024, 768), dtype=np.float32)
    sha = hashlib.sha256(table.tobytes()).hexdigest()
    monkeypatch.setattr(weights, "TENSORS", {"wpe.weight": (table.shape, sha)})
    shapes = hub_server.gpt2_shapes()
    assert 4 * sum(math.prod(shape) for shape in shapes.values()) == 548_090_880
    hub = serve(safetensors_file(shapes, {"wpe.weight": table.tobytes()}))
    assert hub.file.size == pytest.approx(548_105_171, abs=100)
    np.testing.assert_array_equal(load_wpe(), table)
    assert table.nbytes < hub.sent < 3_300_000


@needs_slice
def test_real_tensors_from_the_hub(serve, monkeypatch):
    """Every published tensor, from a file of the real layout, against the published SHA-256."""
    monkeypatch.setattr(weights, "TENSORS", PUBLISHED)
    arrays = {name: load_tensor(name, SLICE) for name in PUBLISHED}
    data = {name: array.tobytes() for name, array in arrays.items()}
    hub = serve(safetensors_file(hub_server.gpt2_shapes(), data))
    for name, array in arrays.items():
        np.testing.assert_array_equal(load_tensor(name), array)
        assert cached(name) == data[name]
    assert hub.sent < sum(map(len, data.values())) + 7 * 20_000


def test_redirect_keeps_the_range(hub):
    """The real hub sends every large file from another host."""
    load_wpe()
    assert hub.url != hub.cdn.url
    assert [request.range for request in hub.log] == [request.range for request in hub.cdn.log]


@pytest.mark.parametrize("token", ["out of date", "unreadable"])
def test_token_is_not_needed_and_not_sent(token, hub, tmp_path, monkeypatch):
    """The file is public, yet the hub refuses it to a token that is no longer valid."""
    if token == "out of date":
        monkeypatch.setenv("HF_TOKEN", "hf_old")
    else:
        (tmp_path / "hf" / "token").mkdir(parents=True)

    def refuse_tokens(handler):
        refused = "Authorization" in handler.headers
        handler.reply(401, b"Invalid credentials") if refused else handler.answer()

    hub.faults = repeat(refuse_tokens)
    np.testing.assert_array_equal(load_wpe(), W)


def no_port():
    """Return the address of a port that nobody listens on, and the socket that keeps it so."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    return f"http://127.0.0.1:{taken.getsockname()[1]}", taken


def test_no_network(serve, naps, own_caches):
    url, taken = no_port()
    with taken:
        serve.point_at(url)
        message = failure()
    assert "could not be fetched" in message and url in message
    assert naps == list(weights.WAITS)
    assert not own_caches.exists()


def test_no_name_server(serve, monkeypatch, own_caches):
    def no_address(*args, **kwargs):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", no_address)
    serve.point_at("http://hub.invalid")
    assert "name resolution" in failure()
    assert not own_caches.exists()


FINAL = {  # one request, one message
    "404": (status(404, b"Entry not found", X_Error_Code="EntryNotFound"), "status 404"),
    "401": (status(401, b"Invalid username or password."), "status 401"),
    "403": (status(403, b'{"error": "Forbidden"}', Content_Type="application/json"), "status 403"),
    "416": (status(416), "status 416"),
    "204": (status(204), "status 204"),
    "HTML with 200": (hub_server.html(200), "status 200.*all 548 MB"),
    "Range ignored": (hub_server.ignore_range, "status 200.*all 548 MB"),
    "429, too long": (status(429, Retry_After="21"), "status 429 and asks to wait 21 seconds"),
    "endless 404": (hub_server.trickle(404), "status 404"),
}


@pytest.mark.parametrize("server", ["hub", "cdn"])
@pytest.mark.parametrize("fault, match", FINAL.values(), ids=FINAL)
def test_fault_that_no_other_try_would_cure(server, fault, match, hub, naps, own_caches):
    (hub if server == "hub" else hub.cdn).faults = repeat(fault)
    assert re.search(match, failure())
    assert (len(hub.log), naps) == (1, [])
    assert not own_caches.exists()


TIMED_OUT = "[Tt]imed? ?out"
PASSING = {  # faults that may pass: tried four times
    "500": (status(500, b"Internal Error"), "status 500"),
    "503 with a page": (hub_server.html(503), "status 503"),
    "endless 500": (hub_server.trickle(500), "status 500"),
    "429": (status(429), "status 429"),
    "429 with a date": (status(429, Retry_After="Fri, 31 Dec 2027 23:59:59 GMT"), "status 429"),
    "429 with nonsense": (status(429, Retry_After="\u00b2"), "status 429"),
    "hang up": (hub_server.hang_up, "disconnected"),
    "not HTTP": (hub_server.not_http, "could not be fetched"),
    "cut": (hub_server.cut_halfway, "could not be fetched"),
    "HTML with 206": (hub_server.html(206), "more bytes came"),
    "too much": (hub_server.other_length(5), "more bytes came"),
    "too little": (hub_server.other_length(-1), "ended after 7 of 8 bytes"),
    "silent": (hub_server.silent, TIMED_OUT),
    "silent halfway": (hub_server.silent_halfway, TIMED_OUT),
}


@pytest.mark.parametrize("fault, match", PASSING.values(), ids=PASSING)
def test_fault_that_stays(fault, match, hub, naps, monkeypatch, own_caches):
    """Four tries with growing pauses, then one message; never a hang."""
    if match is TIMED_OUT:
        monkeypatch.setattr(weights, "TIMEOUT", 0.3)
    hub.cdn.faults = repeat(fault)
    start = time.monotonic()
    message = failure()
    assert time.monotonic() - start < 8
    assert re.search(match, message)
    assert (len(hub.log), naps) == (TIMES, list(weights.WAITS))
    assert not own_caches.exists()


@pytest.mark.parametrize("good", [0, 1, 2], ids=["length", "header", "tensor"])
@pytest.mark.parametrize("fault, match", PASSING.values(), ids=PASSING)
def test_fault_that_passes(good, fault, match, hub, monkeypatch):
    """Whichever of the three requests fails once, the next try cures it."""
    if match is TIMED_OUT:
        monkeypatch.setattr(weights, "TIMEOUT", 0.3)
    hub.cdn.faults = iter([None] * good + [fault])
    np.testing.assert_array_equal(load_wpe(), W)
    assert len(hub.cdn.log) == 4 or match is TIMED_OUT  # a busy machine may be late once more
    assert cached() == W.tobytes()


@pytest.mark.parametrize("server", ["hub", "cdn"])
def test_server_without_a_word(server, hub, monkeypatch):
    """A connection is accepted, and then nothing: the client alone would wait for ever."""
    monkeypatch.setattr(weights, "TIMEOUT", 0.3)
    (hub if server == "hub" else hub.cdn).faults = repeat(hub_server.silent)
    start = time.monotonic()
    assert "could not be fetched" in failure()
    assert time.monotonic() - start < 8


def test_endless_redirect(hub):
    hub.faults = repeat(hub_server.to_itself)
    assert "redirect" in failure()


@pytest.mark.parametrize("good", [0, 1, 2], ids=["length", "header", "tensor"])
def test_cut_every_time(good, hub, own_caches):
    hub.cdn.faults = chain([None] * good, repeat(hub_server.cut_halfway))
    assert "could not be fetched" in failure()
    assert len(hub.cdn.log) == good + TIMES
    assert not own_caches.exists()


@pytest.mark.parametrize("good", [0, 2], ids=["length", "tensor"])
def test_trickle_past_the_deadline(good, hub, naps, monkeypatch):
    """Each byte comes in time, the whole never would."""
    monkeypatch.setattr(weights, "DEADLINE", 0.3)
    hub.cdn.faults = chain([None] * good, repeat(hub_server.trickle(206, pause=0.1)))
    start = time.monotonic()
    assert "took longer than" in failure()
    assert time.monotonic() - start < 8
    assert naps == []


def test_no_wait_past_the_deadline(hub, naps, monkeypatch):
    """It gives up at once when the next try would come too late."""
    monkeypatch.setattr(weights, "DEADLINE", weights.WAITS[0] / 2)
    hub.faults = repeat(status(500))
    assert "status 500" in failure()
    assert (len(hub.log), naps) == (1, [])


@pytest.mark.parametrize(
    "asked, waited", [("7", 7.0), ("20", 20.0), ("0", 1.0), ("", 1.0), ("soon", 1.0)]
)
def test_429_then_success_waits_as_asked(asked, waited, hub, naps):
    hub.faults = iter([status(429, Retry_After=asked)])
    np.testing.assert_array_equal(load_wpe(), W)
    assert naps == [waited]


def test_range_ignored_does_not_fetch_everything(serve):
    """What is in the buffers when the client leaves may be lost; 548 MB may not."""
    hub = serve(safetensors_file(hub_server.gpt2_shapes(), {}))
    hub.cdn.faults = repeat(hub_server.ignore_range)
    failure()
    assert hub.sent < 20_000_000


def test_wrong_bytes_of_the_right_length(hub, own_caches):
    """One bit is enough."""
    bad = bytearray(W.tobytes())
    bad[100] ^= 1
    hub.file = safetensors_file(SHAPES, {"wpe.weight": bytes(bad)})
    assert "not the published ones" in failure()
    assert not own_caches.exists()
    hub.file = FILE
    np.testing.assert_array_equal(load_wpe(), W)


def test_another_part_than_was_asked_for(hub, own_caches):
    hub.cdn.faults = chain([None, None], repeat(hub_server.from_the_start))
    assert "not the published ones" in failure()
    hub.cdn.faults = repeat(hub_server.from_the_start)
    assert "does not describe" in failure()
    assert not own_caches.exists()


@pytest.mark.parametrize("size", [0, weights.MAX_HEADER + 1, 1 << 40, (1 << 64) - 1])
def test_absurd_header_length(size, hub, own_caches):
    hub.file = VirtualFile(2_000_000, {0: size.to_bytes(8, "little")})
    assert "no safetensors file" in failure()
    assert hub.sent < 1000
    assert not own_caches.exists()


def entry(**changes):
    """Return a header that describes wpe.weight, with some values changed."""
    good = {"dtype": "F32", "shape": list(W.shape), "data_offsets": [0, W.nbytes]}
    return json.dumps({"wpe.weight": good | changes}).encode()


HEADERS = {
    "no JSON": b"{'wpe.weight': ",
    "no UTF-8": b"\xff\xfe" * 20,
    "HTML": b"<!DOCTYPE html><html></html>",
    "a list": b"[]",
    "null": b"null",
    "no tensor": b'{"wte.weight": {}}',
    "null tensor": b'{"wpe.weight": null}',
    "empty tensor": b'{"wpe.weight": {}}',
    "nested too deep": b"[" * 200_000,
    "offsets null": entry(data_offsets=[None, None]),
    "offsets text": entry(data_offsets=["0", "512"]),
    "offsets lists": entry(data_offsets=[[0], [512]]),
    "offsets one": entry(data_offsets=[512]),
    "offsets a number": entry(data_offsets=512),
    "offsets infinite": entry(data_offsets=[0, math.inf]),
    "offsets negative": entry(data_offsets=[-512, 0]),
    "offsets swapped": entry(data_offsets=[512, 0]),
    "offsets too short": entry(data_offsets=[0, 508]),
    "offsets past the end": entry(data_offsets=[10**9, 10**9 + 512]),
    "shape a number": entry(shape=128),
    "shape null": entry(shape=None),
    "shape swapped": entry(shape=[8, 16]),
    "F16": entry(dtype="F16"),
    "F64": entry(dtype="F64"),
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_broken_header(header, hub, own_caches):
    hub.file = real_file(len(header).to_bytes(8, "little") + header + W.tobytes())
    failure()
    assert not own_caches.exists()


def test_file_that_safetensors_wrote(hub, tmp_path):
    """The header is read here by hand: a file of the safetensors library must do."""
    hub.file = real_file(checkpoint(tmp_path / "a.safetensors").read_bytes())
    np.testing.assert_array_equal(load_wpe(), W)


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline(variable, hub, monkeypatch):
    """In a fresh process, as the hub's client reads the variable when it is imported."""
    monkeypatch.setenv(variable, "1")
    code = "try: load_wpe()\nexcept weights.WeightsError as error: print('refused:', error)"
    with child(code) as process:
        out, err = process.communicate(timeout=30)
    assert out.startswith("refused: wpe.weight is in no cache") and "HF_HUB_OFFLINE" in out
    assert not err and not hub.log


def test_offline_with_a_cache(hub, monkeypatch):
    load_wpe()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    np.testing.assert_array_equal(load_wpe(), W)
    assert "HF_HUB_OFFLINE" in failure(load_tensor, "h.0.ln_1.weight")


# --- the course's cache ---------------------------------------------------------------------


def test_cache_holds_the_raw_bytes(hub, own_caches):
    for name, array in ARRAYS.items():
        load_tensor(name)
        assert cached(name) == array.tobytes()
    assert len(list(own_caches.iterdir())) == len(ARRAYS)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: bytes(len(data)),
        lambda data: data[:7] + bytes([data[7] ^ 1]) + data[8:],
        lambda data: b"<!DOCTYPE html>",
    ],
    ids=["empty", "truncated", "too long", "zeros", "one bit", "HTML"],
)
def test_damaged_cache_is_fetched_again(damage, hub):
    load_wpe()
    weights._cache_file("wpe.weight").write_bytes(damage(W.tobytes()))
    asked = len(hub.log)
    np.testing.assert_array_equal(load_wpe(), W)
    assert len(hub.log) == asked + 3
    assert cached() == W.tobytes()


def test_damaged_cache_without_network(hub):
    """It must not be used because there is nothing better; a later load repairs it."""
    load_wpe()
    weights._cache_file("wpe.weight").write_bytes(bytes(W.nbytes))
    hub.faults = repeat(status(500))
    failure()
    hub.faults = iter(())
    np.testing.assert_array_equal(load_wpe(), W)


def file_for_folder(folder, monkeypatch):
    folder.write_bytes(b"")


def file_for_parent(folder, monkeypatch):
    folder.write_bytes(b"")
    monkeypatch.setenv(weights.CACHE_VARIABLE, str(folder / "below"))


def folder_for_files(folder, monkeypatch):
    for name in TENSORS:
        weights._cache_file(name).mkdir(parents=True)


def no_space(folder, monkeypatch):
    def write(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", write)


@pytest.mark.parametrize("fault", [file_for_folder, file_for_parent, folder_for_files, no_space])
def test_unwritable_cache_works_and_says_so_once(fault, hub, tmp_path, monkeypatch):
    folder = tmp_path / "odd"
    monkeypatch.setenv(weights.CACHE_VARIABLE, str(folder))
    fault(folder, monkeypatch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            for name, array in ARRAYS.items():
                np.testing.assert_array_equal(load_tensor(name), array)
    (message,) = [str(warning.message) for warning in caught]
    assert "can't be written" in message and weights.CACHE_VARIABLE in message
    assert "None" not in message
    assert not [path for path in tmp_path.glob("odd/*") if path.is_file()]


def test_interrupted_write_leaves_nothing(hub, own_caches, monkeypatch):
    """A reader stops the cell while the file is written."""

    def interrupted(source, target):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            load_wpe()
    assert list(own_caches.iterdir()) == []


# --- several processes ----------------------------------------------------------------------

CHILD = f"""
import os, sys, tempfile
from posembed import load_wpe, weights
weights.TENSORS = {TENSORS!r}

def stop():
    print("ready", flush=True)
    sys.stdin.readline()
"""
BEFORE_REPLACE = """
def replace(source, target, real=os.replace):
    stop()
    real(source, target)

os.replace = replace
"""
HALF_WRITTEN = """
def half(*args, real=tempfile.NamedTemporaryFile, **options):
    handle = real(*args, **options)
    write = handle.write

    def write_in_two(data):
        write(data[:200])
        handle.flush()
        stop()
        write(data[200:])

    handle.write = write_in_two
    return handle

tempfile.NamedTemporaryFile = half
"""
LOAD = "print(load_wpe().tobytes().hex())"


@contextmanager
def child(code):
    """Run code in another process, with the same tensors, hub and caches."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", CHILD + code], text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def test_two_processes_at_once(hub, own_caches):
    """Both have fetched and written, and neither has put its file in place, when both go on."""
    with child(BEFORE_REPLACE + LOAD) as one, child(BEFORE_REPLACE + LOAD) as two:
        assert [process.stdout.readline() for process in (one, two)] == ["ready\n"] * 2
        assert len(list(own_caches.iterdir())) == 2 and cached() is None
        for process in (one, two):
            process.stdin.write("\n")
            process.stdin.flush()
        results = [process.communicate(timeout=30) for process in (one, two)]
    assert results == [(W.tobytes().hex() + "\n", "")] * 2
    assert [file.read_bytes() for file in own_caches.iterdir()] == [W.tobytes()]


@pytest.mark.parametrize("moment", [HALF_WRITTEN, BEFORE_REPLACE], ids=["half", "whole"])
def test_killed_while_writing(moment, hub, own_caches):
    """What it leaves is never taken for the cache, and the next load sweeps it away."""
    with child(moment + LOAD) as process:
        assert process.stdout.readline() == "ready\n"
        process.kill()
        process.wait(30)
    assert cached() is None
    assert len(list(own_caches.iterdir())) == 1
    np.testing.assert_array_equal(load_wpe(), W)
    assert [file.read_bytes() for file in own_caches.iterdir()] == [W.tobytes()]


def test_sweep_does_not_hurt_a_live_writer(hub, own_caches):
    """This process finishes while another writes, and takes its half file for a left one."""
    with child(HALF_WRITTEN + LOAD) as process:
        assert process.stdout.readline() == "ready\n"
        np.testing.assert_array_equal(load_wpe(), W)
        out, err = process.communicate("\n", timeout=30)
    assert (out, err) == (W.tobytes().hex() + "\n", "")
    assert [file.read_bytes() for file in own_caches.iterdir()] == [W.tobytes()]


# --- a file on this machine -----------------------------------------------------------------


class Trap:
    """A pickle of it creates a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def missing(tmp_path):
    return tmp_path / "nothing.safetensors"


def empty_folder(tmp_path):
    return tmp_path


def folder_in_folder(tmp_path):
    (tmp_path / weights.FILENAME).mkdir()
    return tmp_path


def too_long_a_name(tmp_path):
    return tmp_path / ("x" * 300)


def without_the_tensor(tmp_path):
    return checkpoint(tmp_path / "a.safetensors", wpe__weight=None)


def wrong_shape(tmp_path):
    return checkpoint(tmp_path / "a.safetensors", wpe__weight=W.reshape(8, 16))


def half_precision(tmp_path):
    return checkpoint(tmp_path / "a.safetensors", wpe__weight=W.astype(np.float16))


def double_precision(tmp_path):
    return checkpoint(tmp_path / "a.safetensors", wpe__weight=W.astype(np.float64))


def integers_of_the_same_size(tmp_path):
    return checkpoint(tmp_path / "a.safetensors", wpe__weight=W.view(np.int32))


def other_values(tmp_path):
    return checkpoint(tmp_path / "a.safetensors", wpe__weight=W * np.float32(1.0001))


def truncated(tmp_path):
    file = checkpoint(tmp_path / "a.safetensors")
    file.write_bytes(file.read_bytes()[:-1])
    return file


def cut_in_the_header(tmp_path):
    file = checkpoint(tmp_path / "a.safetensors")
    file.write_bytes(file.read_bytes()[:50])
    return file


def with_contents(data):
    def make(tmp_path):
        file = tmp_path / "a.safetensors"
        file.write_bytes(data)
        return file

    return make


NO_FILE, NOT_SAFETENSORS = "There is no file", "no readable safetensors file"
LOCAL = {
    "missing": (missing, NO_FILE),
    "empty folder": (empty_folder, NO_FILE),
    "folder in a folder": (folder_in_folder, NO_FILE),
    "name too long": (too_long_a_name, NOT_SAFETENSORS),
    "no tensor": (without_the_tensor, "has no tensor wpe.weight"),
    "wrong shape": (wrong_shape, r"is F32 of shape \(8, 16\); GPT-2 small has F32.*\(16, 8\)"),
    "F16": (half_precision, "is F16 of shape"),
    "F64": (double_precision, "is F64 of shape"),
    "I32": (integers_of_the_same_size, "is I32 of shape"),
    "other values": (other_values, "is not the published one"),
    "truncated": (truncated, NOT_SAFETENSORS),
    "cut in the header": (cut_in_the_header, NOT_SAFETENSORS),
    "empty": (with_contents(b""), NOT_SAFETENSORS),
    "text": (with_contents(b"version https://git-lfs.github.com/spec/v1\n" * 9), NOT_SAFETENSORS),
    "HTML": (with_contents(b"<!DOCTYPE html><html></html>"), NOT_SAFETENSORS),
    "zeros": (with_contents(bytes(1000)), NOT_SAFETENSORS),
    "no UTF-8": (with_contents((64).to_bytes(8, "little") + b"\xff" * 99), NOT_SAFETENSORS),
}


@pytest.mark.parametrize("named", ["source", "variable"])
@pytest.mark.parametrize("make, match", LOCAL.values(), ids=LOCAL)
def test_bad_local_file(make, match, named, tmp_path, monkeypatch, own_caches):
    path = make(tmp_path)
    if named == "variable":
        monkeypatch.setenv(weights.SOURCE_VARIABLE, str(path))
        message = failure()
    else:
        message = failure(load_wpe, path)
    assert re.search(match, message)
    assert str(path)[:200] in message
    assert not own_caches.exists()


def test_pickle_is_never_read(tmp_path):
    """Neither as it is nor under another name: reading one runs whatever its author wants."""
    mark = tmp_path / "mark"
    data = pickle.dumps(Trap(mark))
    for name in ("model.safetensors", "pytorch_model.bin"):
        file = tmp_path / name
        file.write_bytes(data)
        assert NOT_SAFETENSORS in failure(load_wpe, file)
    assert not mark.exists()
    pickle.loads(data).close()
    assert mark.exists()  # the trap works


def test_names_with_a_prefix(tmp_path):
    """Some copies of the checkpoint were saved with the language model's head on top."""
    file = tmp_path / "a.safetensors"
    save_file({f"transformer.{name}": array for name, array in ARRAYS.items()}, file)
    np.testing.assert_array_equal(load_wpe(file), W)


@needs_slice
@pytest.mark.parametrize("name", PUBLISHED)
def test_real_tensors_from_a_file(name, monkeypatch):
    monkeypatch.setattr(weights, "TENSORS", PUBLISHED)
    array = load_tensor(name, SLICE)
    shape, sha = PUBLISHED[name]
    assert (array.shape, array.dtype) == (shape, np.float32)
    assert hashlib.sha256(array.tobytes()).hexdigest() == sha
    assert np.isfinite(array).all()


# --- what the reader sees while it loads ----------------------------------------------------


def test_no_progress_bar_where_nobody_watches(hub, capfd):
    """It would end up in the stored outputs of a notebook."""
    load_wpe()
    assert capfd.readouterr() == ("", "")


def test_progress_bar_on_a_terminal(hub, monkeypatch):
    """One bar, for the tensor and not for its header, that clears up after itself."""
    pty = pytest.importorskip("pty", exc_type=ImportError)
    termios = pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with open(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        load_wpe()
    shown = ""
    with suppress(OSError):  # the end of a terminal that is closed on the other side
        while chunk := os.read(ours, 10_000):
            shown += chunk.decode()
    os.close(ours)
    assert shown.startswith("\rGPT-2 wpe.weight:   0%")
    assert "/512 " in shown
    assert shown.endswith("\r") and not shown.split("\r")[-2].strip()


def test_import_is_quick():
    """Whoever only wants the sinusoid must not wait for torch."""
    code = "import sys, posembed; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "transformers", "huggingface_hub", "matplotlib.pyplot"}
    assert not heavy & set(run.stdout.split())


def test_the_command_fetches_and_checks_all(hub, own_caches, capsys, monkeypatch):
    """What `make execute` starts with, and what a reader runs before a flight."""
    monkeypatch.setattr(posembed.__main__, "TENSORS", TENSORS)
    posembed.__main__.main()
    assert capsys.readouterr().out.endswith("are here, and they are the published ones.\n")
    assert len(list(own_caches.iterdir())) == len(TENSORS)


def test_the_command_says_in_one_line_what_is_missing(serve):
    serve.point_at("http://127.0.0.1:9")
    with pytest.raises(SystemExit) as caught:
        posembed.__main__.main()
    assert weights.SOURCE_VARIABLE in str(caught.value) and "\n" not in str(caught.value)
