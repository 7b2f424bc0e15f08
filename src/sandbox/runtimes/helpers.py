"""The helper functions of macros, each as in the system that most macros come from; helpers.js and helpers.R hold to their own languages there.

test/sandbox/reference-helpers.json has its numbers. A macro that moves keeps its own, also where they are odd; curves.py has fits that are not."""

import math as _math
import statistics as _statistics


def _is_list(value):
    return not isinstance(value, (str, dict, bytes)) and hasattr(value, "__len__") and hasattr(value, "__getitem__") and hasattr(value, "__iter__")


def _plain(value):
    return value.item() if hasattr(value, "item") and not _is_list(value) else value


def _items(values):
    """A list of what a list, a tuple or an array of numpy holds; None of anything else."""
    return [_plain(value) for value in values] if _is_list(values) else None


def _is_real(value):
    return isinstance(value, (int, float))


def ArrayNth(values, size=1, index=0):
    items = _items(values)
    return None if items is None else items[0 if index < 0 else index :: 1 if size < 1 else size]


_RANGE_CHANGES = {
    "none": lambda x: x,
    "log": lambda x: _math.log10(x) if x > 0 else None,
    "ln": lambda x: _math.log(x) if x > 0 else None,
    "x2": lambda x: x**2,
}


def ArrayRange(start=None, stop=None, step=1, transform="none"):
    """A logarithm that does not exist is left out."""
    if start is None:
        return []
    value, end = (0, start) if stop is None else (start, stop)
    if not _is_real(start) or not _is_real(end) or not _is_real(step) or step == 0 or transform not in _RANGE_CHANGES:
        return None
    values = []
    # Added up rather than multiplied: the last bits, and whether the end is reached, come from that.
    while value < end if step > 0 else value > end:
        if len(values) >= 1e6:
            raise ValueError("ArrayRange makes at most 1000000 values")
        values.append(_RANGE_CHANGES[transform](value))
        value += step
    return [changed for changed in values if changed is not None]


def ArrayUnZip(pairs):
    items = _items(pairs)
    if not items or not _is_list(items[0]):
        return None
    known = [_items(pair) if _is_list(pair) else pair for pair in items]
    known = [pair for pair in known if len(pair) >= 2]
    return {"x": [pair[0] for pair in known], "y": [pair[1] for pair in known]}


def ArrayZip(x, y):
    first, second = _items(x), _items(y)
    if first is None or second is None or len(first) != len(second):
        return None
    return [[a, b] for a, b in zip(first, second)]


def _one_or_many(found, array):
    return None if not found else found[0] if len(found) == 1 and not array else found


def GetIndexByLabel(label, json, array=False):
    if label is None or not json.get("set"):
        return None
    return _one_or_many([at for at, entry in enumerate(json["set"]) if entry.get("label") == label], array)


def GetProtocolByLabel(label, json, array=False):
    if label is None or not json.get("set"):
        return None
    return _one_or_many([entry for entry in json["set"] if entry.get("label") == label], array)


def GetLabelLookup(json):
    lookup = {}
    for at, entry in enumerate(json.get("set") or []):
        label = entry.get("label")
        if label:
            lookup.setdefault(label, []).append(at)
    return lookup or None


def _answer(act, values, least=1):
    """None of what is no list, is too short, or cannot be compared or added."""
    items = _items(values)
    if items is None or len(items) < least:
        return None
    try:
        return act(items)
    except Exception:
        return None


def MathMAX(values):
    return _answer(max, values)


def MathMIN(values):
    return _answer(min, values)


def MathSUM(values):
    return _answer(sum, values)


def MathMEAN(values):
    return _answer(_statistics.mean, values)


def MathMEDIAN(values):
    return _answer(_statistics.median, values)


def MathVARIANCE(values):
    return _answer(_statistics.variance, values, 2)


def MathSTDEV(values):
    return _answer(_statistics.pstdev, values)


def MathSTDEVS(values):
    return _answer(_statistics.stdev, values, 2)


def MathSTDERR(values):
    return _answer(lambda items: _statistics.stdev(items) / _math.sqrt(len(items)), values, 2)


def MathROUND(value, digits=2):
    """Halves go to the even digit, of the number as it is stored."""
    try:
        return None if value is None else round(float(value), digits)
    except (TypeError, ValueError):
        return None


def MathLN(value):
    return _math.log(value) if value and value > 0 else None


def MathLOG(value):
    return _math.log10(value) if value and value > 0 else None


def MathLINREG(x, y):
    if len(x) != len(y) or len(x) < 2:
        return None
    if isinstance(x, str):
        return dict.fromkeys(("m", "b", "r", "r2"), _math.nan)
    first, second = _items(x), _items(y)
    if first is None or second is None or not all(_is_real(value) for value in first + second):
        return None
    mx = sum(first) / len(first)
    my = sum(second) / len(second)
    sxx = sum((a - mx) ** 2 for a in first)
    syy = sum((b - my) ** 2 for b in second)
    sxy = sum((a - mx) * (b - my) for a, b in zip(first, second))
    if sxx == 0:
        return None
    m = sxy / sxx
    r = _math.nan if syy == 0 else max(-1.0, min(1.0, sxy / _math.sqrt(sxx * syy))) if sxy == sxy else _math.nan
    return {"m": m, "b": my - m * mx, "r": r, "r2": r * r}


_ARITHMETIC = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "divide": lambda a, b: a / b}
_SIGNS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
# A parabola through five points, at the first, the second and the middle one.
_PARABOLA = [[31, 9, -3, -5, 3], [9, 13, 12, 6, -5], [-3, 12, 17, 12, -3]]


def _divide_lists(trace, others):
    """Whole numbers have no quotients with a list here; a quotient by 0 is 0."""
    if not any(isinstance(value, float) for value in trace):
        return None
    return [0.0 if b == 0 else a / b for a, b in zip(trace, others)]


def _arithmetic(name, trace, other):
    if _is_real(other):
        return None if name == "divide" and other == 0 else [_ARITHMETIC[name](value, other) for value in trace]
    others = _items(other)
    if others is None or len(others) != len(trace) or not all(_is_real(value) for value in others):
        return None
    return _divide_lists(trace, others) if name == "divide" else [_ARITHMETIC[name](a, b) for a, b in zip(trace, others)]


def _extremes(trace):
    unknown = [value for value in trace if value != value]
    return (unknown[0], unknown[0]) if unknown else (min(trace), max(trace))


def _through(trace, divisor):
    return trace if divisor == 0 else [value / divisor for value in trace]


def _spread(trace):
    low, high = _extremes(trace)
    return [0.0] * len(trace) if high == low else [(value - low) / (high - low) for value in trace]


def _average(trace):
    """Over three values, where what lies outside counts as 0; two values are averaged with the one before."""
    window = min(3, len(trace))
    padded = [0] * (window // 2) + trace + [0] * (window // 2)
    return [sum(value * (1 / window) for value in padded[at : at + window]) for at in range(len(trace))]


def _smooth(trace):
    """Savitzky's and Golay's filter over five values; fewer lie on a parabola, and two are averaged."""
    if len(trace) < 3:
        return _average(trace)
    values = [float(value) for value in trace]
    if len(values) < 5:
        return values

    def at_start(row, window):
        return sum(weight * value for weight, value in zip(_PARABOLA[row], window)) / 35

    middle = [at_start(2, values[at : at + 5]) for at in range(len(values) - 4)]
    end = values[:-6:-1]
    return [at_start(0, values), at_start(1, values), *middle, at_start(1, end), at_start(0, end)]


def _absorbance(trace, reference):
    if not reference > 0:
        return None
    shares = [value / reference for value in trace]
    return [-_math.log10(share) if share > 0 else _math.inf if share == 0 else _math.nan for share in shares]


def TransformTrace(fn, a1, a2=None):
    trace = _items(a1)
    other = _plain(a2)
    if not trace:
        return None
    try:
        if fn == "sgf":
            return _smooth(trace)
    except (TypeError, ValueError):
        return None
    if not all(_is_real(value) for value in trace):
        return None
    name = _SIGNS.get(fn, fn) if isinstance(fn, str) else fn
    if name in _ARITHMETIC:
        return _arithmetic(name, trace, other)
    if name == "normToMin":
        return _through(trace, _extremes(trace)[0])
    if name == "normToMax":
        return _through(trace, _extremes(trace)[1])
    if name == "normToRange":
        return _spread(trace)
    if name == "normToIdx":
        return _through(trace, trace[other]) if isinstance(other, int) and 0 <= other < len(trace) else None
    if name == "normToVal":
        return _through(trace, other) if _is_real(other) else None
    if name == "ma":
        return _average(trace)
    if name == "abs":
        return _absorbance(trace, other if _is_real(other) else trace[0])
    return None


def calcSunAngle(roll, pitch, compass, azimuth, altitude):
    """Degrees, with the sun's altitude counted along the horizon."""
    try:
        r, p, c, z, h = (_math.radians(value) for value in (roll, pitch, compass, azimuth, altitude))
        device = (_math.sin(r) * _math.cos(p), -_math.sin(p), _math.cos(r) * _math.cos(p))
        sun = (_math.cos(h) * _math.sin(z - c), _math.sin(h), _math.cos(h) * _math.cos(z - c))
    except (TypeError, ValueError):
        return None
    cosine = device[0] * sun[0] + device[1] * sun[1] + device[2] * sun[2]
    return _math.degrees(_math.acos(max(-1, min(1, cosine))))


_OWN = object()


def tell(kind, own):
    """`info`, `warning` and `danger`: a message in the output, by default of the item that runs."""

    def say(message, output=_OWN):
        target = own if output is _OWN else output
        if "messages" not in target:
            target["messages"] = {}
        if kind not in target["messages"]:
            target["messages"][kind] = []
        target["messages"][kind].append(message)
        return target

    return say
