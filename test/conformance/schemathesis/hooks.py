"""Puts ids of things that exist into most calls: an id made up by the generator is never found."""

import json
import os
import re
import zlib

import schemathesis

# by the word that stands before the parameter: {"experiments": "<id>", ...}
EXISTING = json.loads(os.environ["EXISTING_IDS"])
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def stays(value):
    """What is malformed stays, and one of five values that may be unknown."""
    return not isinstance(value, str) or zlib.crc32(value.encode(errors="surrogatepass")) % 5 == 0


def word_before(path, name, values):
    """The word of a path before a parameter; of `{resourceType}` the plural of what the call says: `device_group` is under `device-groups`."""
    words = path.split("/")
    word = words[words.index("{%s}" % name) - 1]
    return str(values.get(word[1:-1])).replace("_", "-") + "s" if word.startswith("{") else word


@schemathesis.hook
def before_call(context, case, kwargs):
    given = case.path_parameters or {}
    for name, value in list(given.items()):
        if stays(value) or not UUID.fullmatch(value):
            continue
        found = EXISTING.get(word_before(case.operation.path, name, given))
        if found:
            given[name] = found
    for place in (case.query, case.body):
        table = place.get("tableName") if isinstance(place, dict) else None
        if "/data" in case.operation.path and not stays(table) and 0 < len(table) <= 256:
            place["tableName"] = "raw_data"
