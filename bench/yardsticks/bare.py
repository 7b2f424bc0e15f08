"""A macro in a bare interpreter with its imports loaded. A line in: {"code"?, "items": [JSON text, …]}; a line out: {"ms", "last"}."""

import json
import sys
import time

try:
    import numpy as np
    import pandas as pd
    import scipy.stats
except ImportError:
    pass

macro = None


def answer(line):
    global macro
    asked = json.loads(line)
    if "code" in asked:
        scope = dict(globals())
        body = "\n".join("  " + text for text in asked["code"].split("\n"))
        exec(f"def macro(json, ctx, output):\n{body}\n", scope)
        macro = scope["macro"]
    out = []
    start = time.perf_counter()
    for item in asked["items"]:
        output = {}
        output.update(macro(json.loads(item), {}, output) or {})
        out.append(json.dumps(output))
    ms = (time.perf_counter() - start) * 1000
    return json.dumps({"ms": ms, "last": out[-1]})


if sys.platform != "emscripten":
    print("ready", flush=True)
    for line in sys.stdin:
        print(answer(line), flush=True)
