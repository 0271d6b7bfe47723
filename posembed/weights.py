"""GPT-2's published weights, tensor by tensor, each checked against its SHA-256.

The course needs seven tensors of one checkpoint. `load_tensor` finds each in the nearest place:
a file you name, the course's own cache, a checkpoint in the Hugging Face cache, and at last the
hub, from which it reads the bytes of that one tensor (3 MB of 548 MB for ``wpe.weight``).
"""

import contextlib
import hashlib
import json
import math
import os
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from posembed import fallback as fallback_model

REPOSITORY = "openai-community/gpt2"
REVISION = "607a30d783dfa663caf39e06633721c8d4cfcd7e"
FILENAME = "model.safetensors"
SOURCE_VARIABLE = "POSEMBED_GPT2"
CACHE_VARIABLE = "POSEMBED_CACHE"

# name: (shape, SHA-256 of the raw little-endian float32 bytes)
TENSORS = {
    "wpe.weight": (
        (1024, 768),
        "29c69587e2af826b7c159c38620a32e549a925e6d9a0dc37cb563f377f5be772",
    ),
    "h.0.ln_1.weight": (
        (768,),
        "87c92a5f0409ab2a8f2b92a9ebbb62ab9215590402d38929402c84357d53e4ae",
    ),
    "h.0.ln_1.bias": (
        (768,),
        "5a4a949fb3e7a463e3f1aca6f5285979f5fd330d9432ef9f272adb8d55bfbb2d",
    ),
    "h.0.attn.c_attn.weight": (
        (768, 2304),
        "df332e9d9ae908db358a00423f14af1c0036bc9a2332aca395adf68e3eb08b48",
    ),
    "h.0.attn.c_attn.bias": (
        (2304,),
        "ef36c6f4fcc7f15fdb5882316834dc7e304ae5f9e8ae32673108c6efa441f787",
    ),
    "h.0.attn.c_proj.weight": (
        (768, 768),
        "e13178678e8c1e591d293bc5a96f081251d734d8a43b7038cc98329742e79952",
    ),
    "h.0.attn.c_proj.bias": (
        (768,),
        "52c55de1fa9685a50e5bd91c5741fc9ad80c03671c1eec71d92010194140e9a7",
    ),
}

GPT2_CONFIG = {"n_head": 12, "layer_norm_epsilon": 1e-5}

TIMEOUT = 10.0  # seconds without an answer before one request is given up
DEADLINE = 300.0  # seconds for all requests of one tensor together
WAITS = (1.0, 2.0, 4.0)  # seconds between tries; one more try than waits
LONGEST_WAIT = 20.0  # seconds; a server that asks for more gets an error message instead
MAX_HEADER = 1_000_000  # bytes; GPT-2's safetensors header has about 14,000

BY_HAND = (
    f"Fetch {FILENAME} once where there is a network (hf download {REPOSITORY} {FILENAME}) "
    f"and set the environment variable {SOURCE_VARIABLE} to that file."
)


class WeightsError(RuntimeError):
    """GPT-2's weights can't be had, or are not the published ones. The message says what to do."""


class _Unreachable(Exception):
    """One request failed in a way that another try may cure."""


def load_wpe(source=None, fallback=True):
    """Return GPT-2's position embeddings, the rows that the model adds to its token embeddings.

    Parameters
    ----------
    source : path-like, optional
        As for `load_tensor`.
    fallback : bool, default True
        As for `load_tensor`.

    Returns
    -------
    ndarray, shape (1024, 768), float32
        Row t is the embedding of position t; column j is one dimension. A fresh, writable array.
        The table of the course's model, which may stand in, has another shape.

    Raises
    ------
    WeightsError
        As `load_tensor`.

    References
    ----------
    Radford et al. (2019), "Language Models are Unsupervised Multitask Learners".
    """
    return load_tensor("wpe.weight", source, fallback)


def load_tensor(name, source=None, fallback=True):
    """Return one tensor of the published GPT-2 small checkpoint.

    It is looked for in this order: `source`; the environment variable ``POSEMBED_GPT2``; the
    course's cache (``POSEMBED_CACHE``, or the user's cache folder); a checkpoint in the Hugging
    Face cache; the hub, from which only this tensor's bytes are read. A file that you name must
    hold the tensor: no other place is tried after it. Wherever the bytes come from, they are
    compared with the SHA-256 of the published ones. Chapter 2 shows it at work.

    Where GPT-2 can't be had at all, the course's own model stands in and says so; all later calls
    in the same process then get that model too, so that tensors of two models never mix. The
    environment variable ``POSEMBED_MODEL`` forbids that (``gpt2``) or asks for it (``course``).

    Parameters
    ----------
    name : str
        One of the names in `posembed.weights.TENSORS`, for example ``"wpe.weight"``.
    source : path-like, optional
        A ``.safetensors`` file, or a folder that has a ``model.safetensors``.
    fallback : bool, default True
        Whether the course's model may stand in. Code that must have GPT-2 says False.

    Returns
    -------
    ndarray, float32
        A fresh, writable array; GPT-2's have the shapes of `TENSORS`.

    Raises
    ------
    ValueError
        If `name` is not a tensor that the course uses.
    WeightsError
        If the tensor can't be had, or its bytes are not the published ones.
    """
    if name not in TENSORS:
        raise ValueError(
            f"name must be one of the tensors the course uses ({', '.join(TENSORS)}), not {name!r}"
        )
    if fallback and source is None and _model_in_use() == "course":
        if os.environ.get(SOURCE_VARIABLE) and fallback_model.wanted() is None:
            raise WeightsError(
                f"{SOURCE_VARIABLE} was set after the course's model had come in. Restart Python (in "
                "a notebook: the kernel) and run all cells, so that two models never mix."
            )
        return _from_course(name, f"{fallback_model.MODEL_VARIABLE} is set to course. {BY_HAND}")
    file = source or os.environ.get(SOURCE_VARIABLE)
    try:
        data = _find(name, file)
    except WeightsError as error:
        # A file that was named must do; and other tensors of GPT-2 may be in use already.
        if file or not fallback or _model_in_use() == "gpt2":
            raise
        return _from_course(name, str(error))
    _served.append("gpt2")
    return _array(name, data)


def load_config():
    """Return what one needs to know of the model whose tensors `load_tensor` returns.

    Returns
    -------
    dict
        ``model`` (its name), ``n_head`` (heads in a layer) and ``layer_norm_epsilon``.
    """
    if _model_in_use() == "course":
        config = fallback_model.config()
        names = ("n_head", "layer_norm_epsilon")
        return {"model": "course model"} | {name: config[name] for name in names}
    return {"model": "GPT-2"} | GPT2_CONFIG


_served = []  # the models whose tensors this process has got; the first one decides


def _model_in_use():
    """Return "gpt2" or "course" where the environment or an earlier call has decided, else None."""
    return fallback_model.wanted() or (_served[0] if _served else None)


def _from_course(name, why):
    _served.append("course")
    fallback_model.notice(why)
    return fallback_model.load_tensor(name)


def _find(name, file):
    """Return the published bytes of a tensor from a file, or the nearest place that has them."""
    if file:
        return _from_file(name, Path(file).expanduser())
    data = _from_cache(name)
    if data is None:
        data = _from_hub_cache(name) or _from_hub(name)
        _store(name, data)
    return data


def _array(name, data):
    shape, _ = TENSORS[name]
    return np.frombuffer(data, dtype="<f4").astype(np.float32).reshape(shape)


def _is_published(name, data):
    return hashlib.sha256(data).hexdigest() == TENSORS[name][1]


# --- a file on this machine -----------------------------------------------------------------


def _from_file(name, path):
    """Return the bytes of one tensor of a local safetensors file, or raise WeightsError."""
    from safetensors import SafetensorError, safe_open

    advice = f"Set {SOURCE_VARIABLE} (or source) to the published {FILENAME}, or unset it."
    file = path
    try:
        if path.is_dir():
            file = path / FILENAME
        if not file.is_file():
            raise WeightsError(f"There is no file {file}. {advice}")
        with safe_open(file, framework="numpy") as checkpoint:
            # Some copies of the checkpoint put "transformer." before every name.
            names = set(checkpoint.keys())
            stored = next((n for n in (name, f"transformer.{name}") if n in names), None)
            if stored is None:
                raise WeightsError(f"{file} has no tensor {name}. {advice}")
            view = checkpoint.get_slice(stored)
            shape, dtype = tuple(view.get_shape()), view.get_dtype()
            if (shape, dtype) != (TENSORS[name][0], "F32"):
                raise WeightsError(
                    f"{name} in {file} is {dtype} of shape {shape}; GPT-2 small has F32 of shape "
                    f"{TENSORS[name][0]}. {advice}"
                )
            data = checkpoint.get_tensor(stored).astype("<f4", copy=False).tobytes()
    except (SafetensorError, OSError) as error:
        raise WeightsError(f"{file} is no readable safetensors file ({error}). {advice}") from error
    if not _is_published(name, data):
        raise WeightsError(
            f"{name} in {file} is not the published one: its SHA-256 differs. {advice}"
        )
    return data


def _from_hub_cache(name):
    """Return the tensor's bytes from a checkpoint in the Hugging Face cache, or None."""
    from huggingface_hub import try_to_load_from_cache

    try:
        path = try_to_load_from_cache(REPOSITORY, FILENAME, revision=REVISION)
        return _from_file(name, Path(path)) if isinstance(path, str) else None
    except (WeightsError, OSError):
        return None  # a damaged cache there is not ours to repair; the hub has a good copy


# --- the course's own cache: one file per tensor, holding its raw bytes ---------------------


def cache_folder():
    """Return the folder of the course's cache: ``POSEMBED_CACHE``, or the user's cache folder."""
    import platformdirs

    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return platformdirs.user_cache_path("posembed", appauthor=False)


def _cache_file(name):
    return cache_folder() / f"gpt2-{REVISION[:8]}-{name}.f32"


def _from_cache(name):
    """Return the tensor's bytes from the course's cache, or None if they are not there or bad."""
    try:
        data = _cache_file(name).read_bytes()
    except OSError:
        return None
    return data if _is_published(name, data) else None


def _store(name, data):
    """Write the bytes to the cache in one step, so that no reader ever sees half a file."""
    file = _cache_file(name)
    temporary = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            dir=file.parent, prefix=f"{file.name}.", delete=False
        ) as handle:
            temporary = Path(handle.name)
            handle.write(data)
        os.replace(temporary, file)
        # Sweep away what a killed process left. A live one that loses its file here finds ours.
        for left in file.parent.glob(f"{file.name}.*"):
            left.unlink(missing_ok=True)
    except OSError as error:
        if _from_cache(name) is None:  # otherwise another notebook was quicker
            _warn_unwritable(error.strerror)
    finally:  # also when the reader interrupts the cell
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _warn_unwritable(reason):
    if not _warn_unwritable.done:
        _warn_unwritable.done = True
        warnings.warn(
            f"The cache folder {cache_folder()} can't be written ({reason}): GPT-2's weights will "
            f"be fetched again next time. Set {CACHE_VARIABLE} to a folder that can be written.",
            stacklevel=4,
        )


_warn_unwritable.done = False


# --- the hub --------------------------------------------------------------------------------


def _from_hub(name):
    """Return the tensor's bytes from the hub, reading only the header and these bytes."""
    from huggingface_hub import constants, hf_hub_url

    if constants.HF_HUB_OFFLINE:
        raise WeightsError(
            f"{name} is in no cache and HF_HUB_OFFLINE forbids the network. Unset it, or: {BY_HAND}"
        )
    url = hf_hub_url(REPOSITORY, FILENAME, revision=REVISION)
    deadline = time.monotonic() + DEADLINE
    size = int.from_bytes(_fetch(url, 0, 8, deadline), "little")
    if not 0 < size <= MAX_HEADER:
        raise WeightsError(f"What {url} serves is no safetensors file. {BY_HAND}")
    try:
        header = json.loads(_fetch(url, 8, 8 + size, deadline))
        begin, end = header[name]["data_offsets"]
        found = (tuple(header[name]["shape"]), header[name]["dtype"], end - begin)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise WeightsError(
            f"The header of {url} does not describe {name} as safetensors does. {BY_HAND}"
        ) from error
    shape = TENSORS[name][0]
    if found != (shape, "F32", 4 * math.prod(shape)):
        raise WeightsError(f"{name} at {url} is not F32 of shape {shape}, as GPT-2's. {BY_HAND}")
    data = _fetch(url, 8 + size + begin, 8 + size + end, deadline, progress=f"GPT-2 {name}")
    if not _is_published(name, data):
        raise WeightsError(
            f"The bytes of {name} from {url} are not the published ones (their SHA-256 differs), "
            f"so they were thrown away. Try again; if it happens again, something on the way "
            f"changes them. {BY_HAND}"
        )
    return data


def _fetch(url, start, stop, deadline, progress=None):
    """Return the bytes ``start`` to ``stop - 1`` of `url`, with a few tries."""
    for wait in (*WAITS, None):
        try:
            return _fetch_once(url, start, stop, deadline, progress)
        except _Unreachable as error:
            asked, reason = error.args
            wait = None if wait is None else max(wait, asked)
            if wait is None or wait > LONGEST_WAIT or time.monotonic() + wait > deadline:
                raise WeightsError(
                    f"GPT-2's weights could not be fetched from {url}: {reason}. "
                    f"Check the network and try again. {BY_HAND}"
                ) from error
            time.sleep(wait)


def _fetch_once(url, start, stop, deadline, progress):
    from huggingface_hub.utils import get_session
    from tqdm import tqdm

    # No token: the file is public, and the hub refuses even public files to an expired token.
    headers = {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}
    data = bytearray()
    try:
        with (
            get_session().stream("GET", url, headers=headers, timeout=TIMEOUT) as response,
            # disable=None: only on a terminal, so that no bar is ever stored in a notebook
            tqdm(total=stop - start, unit="B", unit_scale=True, desc=progress, leave=False,
                 disable=None if progress else True) as bar,
        ):  # fmt: skip
            # The body of an error is not read: nothing says that it ever ends.
            _check_status(url, response.status_code, response.headers.get("Retry-After", ""))
            for chunk in response.iter_bytes():
                data += chunk
                bar.update(len(chunk))
                if len(data) > stop - start or time.monotonic() > deadline:
                    break
    except (WeightsError, _Unreachable):
        raise
    # The hub's client has changed its HTTP library twice, and each has its own tree of errors for
    # a refused, cut or silent connection; to the reader they are all the same.
    except Exception as error:
        raise _Unreachable(0.0, f"{type(error).__name__} ({error})") from error
    if len(data) != stop - start:
        reason = f"the connection ended after {len(data)} of {stop - start} bytes"
        if len(data) > stop - start:
            reason = "more bytes came than were asked for"
        elif time.monotonic() > deadline:
            reason = f"it took longer than {DEADLINE:.0f} seconds"
        raise _Unreachable(0.0, reason)
    return bytes(data)


def _check_status(url, status, retry_after):
    """Raise unless the status is 206: _Unreachable if another try may help, else WeightsError."""
    if status == 206:
        return
    if status == 429 or status >= 500:
        seconds = float(retry_after) if retry_after.isdecimal() else 0.0
        wish = f" and asks to wait {seconds:.0f} seconds" if seconds else ""
        raise _Unreachable(seconds, f"the server answers with status {status}{wish}")
    if status == 200:
        raise WeightsError(
            f"{url} answers with status 200 instead of the part that was asked for (HTTP 206): it "
            f"may be the log-in page of a network, or a proxy that would send all 548 MB. {BY_HAND}"
        )
    raise WeightsError(f"{url} answers with status {status}. {BY_HAND}")
