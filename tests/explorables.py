"""Compare two explorables, the text of one cell's output each, by what the page makes of them.

The data are compared number by number: one unit of the last stored place may differ, since
another machine may round the other way. Everything around them must be the same.
"""

import json
import re
from decimal import Decimal

HTML = "text/html"
PARTS = re.compile(
    r'(?P<before><div class="explorable".*?<script type="application/json" data-decimals="'
    r'(?P<decimals>\d+)">)(?P<data>.*?)(?P<after></script>\n</div>)',
    re.S,
)


def explorables(outputs):
    """Return the texts of the explorables among a cell's outputs."""
    texts = ["".join(output.get("data", {}).get(HTML, "")) for output in outputs]
    return [text for text in texts if PARTS.fullmatch(text)]


def without_explorables(outputs):
    """Return the same outputs with the explorables' HTML left out."""
    rest = []
    for output in outputs:
        if explorables([output]):
            data = {kind: text for kind, text in output["data"].items() if kind != HTML}
            output = type(output)(output, data=data)
        rest.append(output)
    return rest


def data_of(text):
    """Return the data of an explorable; numbers with a fraction as `decimal.Decimal`."""
    return json.loads(PARTS.fullmatch(text)["data"], parse_float=Decimal)


def compare(stored, fresh):
    """Compare two lists of explorables.

    Returns
    -------
    list of str
        One message for each explorable that differs; empty where none does.
    """
    if len(stored) != len(fresh):
        return [f"{len(stored)} explorables are stored, {len(fresh)} were made"]
    return [message for pair in zip(stored, fresh) if (message := _difference(*pair))]


def _difference(stored, fresh):
    old, new = PARTS.fullmatch(stored), PARTS.fullmatch(fresh)
    if (old["before"], old["after"]) != (new["before"], new["after"]):
        return "the HTML around the data differs"
    unit = Decimal(10) ** -int(old["decimals"])
    return _first_difference(data_of(stored), data_of(fresh), unit, "data")


def _first_difference(old, new, unit, where):
    """Return what differs first between two values, or None."""
    if type(old) is not type(new):
        return f"{where} was {old!r:.40}, now it is {new!r:.40}"
    if isinstance(old, dict):
        if old.keys() != new.keys():
            return f"{where} had the keys {', '.join(old)}; now it has {', '.join(new)}"
        pairs = [(f"{where}.{key}", old[key], new[key]) for key in old]
    elif isinstance(old, list):
        if len(old) != len(new):
            return f"{where} had {len(old)} entries, now it has {len(new)}"
        pairs = [(f"{where}[{i}]", *pair) for i, pair in enumerate(zip(old, new))]
    else:
        limit = unit if isinstance(old, Decimal) else 0
        same = old == new or (limit and abs(old - new) <= limit)
        return None if same else f"{where} was {old}, now it is {new}"
    return next((found for w, a, b in pairs if (found := _first_difference(a, b, unit, w))), None)
