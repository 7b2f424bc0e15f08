"""The helper functions of macros; helpers.js and helpers.R state the same behaviour, held together by fixtures/macros/helpers.json.

Missing (None, NaN, infinite) numbers are skipped; what cannot be answered is None; nothing that is given is changed."""

import math as _math


def _is_number(value):
    if isinstance(value, (bool, str)) or value is None:
        return False
    try:
        return _math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def _is_list(value):
    return not isinstance(value, (str, dict, bytes)) and hasattr(value, "__len__") and hasattr(value, "__getitem__") and hasattr(value, "__iter__")


def _plain(value):
    return value.item() if hasattr(value, "item") and not _is_list(value) else value


def _list_of(values):
    if _is_list(values):
        return [_plain(value) for value in values]
    return [values] if _is_number(values) else None


def _numbers_of(values):
    return [value for value in _list_of(values) or [] if _is_number(value)]


def _sum(values):
    total = 0
    for value in values:
        total += value
    return total


def _finite(value):
    return value if _is_number(value) else None


def ArrayNth(values, size=1, index=0):
    if not _is_list(values) or not size >= 1 or not index >= 0:
        return None
    return [_plain(value) for at, value in enumerate(values) if at >= index and (at - index) % size == 0]


def ArrayRange(start, stop=None, step=1, transform="none"):
    if stop is None:
        start, stop = 0, start
    if not (_is_number(start) and _is_number(stop) and _is_number(step)) or step == 0:
        return None
    count = max(0, _math.ceil((stop - start) / step))
    if count > 1e6:
        raise ValueError("ArrayRange makes at most 1000000 values")
    changes = {"none": lambda x: x, "ln": MathLN, "log": MathLOG, "x2": lambda x: x * x}
    if transform not in changes:
        raise ValueError(f"ArrayRange has no transform '{transform}'")
    return [changes[transform](start + at * step) for at in range(count)]


def ArrayUnZip(pairs):
    if not _is_list(pairs) or not all(_is_list(pair) and len(pair) >= 2 for pair in pairs):
        return None
    return {"x": [_plain(pair[0]) for pair in pairs], "y": [_plain(pair[1]) for pair in pairs]}


def ArrayZip(x, y):
    if not _is_list(x) or not _is_list(y) or len(x) != len(y):
        return None
    return [[_plain(a), _plain(b)] for a, b in zip(x, y)]


def _set_of(json):
    found = json.get("set") if hasattr(json, "get") else None
    return found if _is_list(found) else []


def _label_of(entry):
    label = entry.get("label") if hasattr(entry, "get") else None
    return label if isinstance(label, str) else None


def _one_or_many(found, array):
    return found if array or len(found) > 1 else found[0] if found else None


def GetIndexByLabel(label, json, array=False):
    return _one_or_many([at for at, entry in enumerate(_set_of(json)) if _label_of(entry) == label and label is not None], array)


def GetProtocolByLabel(label, json, array=False):
    return _one_or_many([entry for entry in _set_of(json) if _label_of(entry) == label and label is not None], array)


def GetLabelLookup(json):
    lookup = {}
    for at, entry in enumerate(_set_of(json)):
        label = _label_of(entry)
        if label is not None:
            lookup.setdefault(label, []).append(at)
    return lookup


def MathLN(value):
    return _math.log(value) if _is_number(value) and value > 0 else None


def MathLOG(value):
    return _math.log10(value) if _is_number(value) and value > 0 else None


def MathMAX(values):
    given = _numbers_of(values)
    return max(given) if given else None


def MathMIN(values):
    given = _numbers_of(values)
    return min(given) if given else None


def MathSUM(values):
    return None if _list_of(values) is None else _sum(_numbers_of(values))


def MathMEAN(values):
    given = _numbers_of(values)
    return _sum(given) / len(given) if given else None


def MathMEDIAN(values):
    given = sorted(_numbers_of(values))
    half = len(given) // 2
    if not given:
        return None
    return given[half] if len(given) % 2 == 1 else (given[half - 1] + given[half]) / 2


def _squares(given):
    mean = _sum(given) / len(given)
    return _sum([(value - mean) * (value - mean) for value in given])


def MathVARIANCE(values):
    given = _numbers_of(values)
    return None if len(given) < 2 else _squares(given) / (len(given) - 1)


def MathSTDEV(values):
    given = _numbers_of(values)
    return None if not given else _math.sqrt(_squares(given) / len(given))


def MathSTDEVS(values):
    variance = MathVARIANCE(values)
    return None if variance is None else _math.sqrt(variance)


def MathSTDERR(values):
    deviation = MathSTDEVS(values)
    return None if deviation is None else deviation / _math.sqrt(len(_numbers_of(values)))


def MathROUND(value, digits=2):
    """Halves go away from zero; the last bits of a product such as 2.675 * 100 do not decide."""
    if not _is_number(value) or not _is_number(digits):
        return None
    scale = 10.0 ** abs(digits)
    size = abs(value) * scale if digits >= 0 else abs(value) / scale
    if not size < 2.0**50:
        return value
    whole = _math.floor(size + 0.5 + size * 2.0**-50)
    rounded = whole / scale if digits >= 0 else whole * scale
    return -rounded if value < 0 and rounded != 0 else rounded


def MathLINREG(x, y):
    if not _is_list(x) or not _is_list(y) or len(x) != len(y):
        return None
    pairs = [(a, b) for a, b in zip(_list_of(x), _list_of(y)) if _is_number(a) and _is_number(b)]
    n = len(pairs)
    if n < 2:
        return None
    mx = _sum([a for a, _ in pairs]) / n
    my = _sum([b for _, b in pairs]) / n
    sxx = _sum([(a - mx) * (a - mx) for a, _ in pairs])
    syy = _sum([(b - my) * (b - my) for _, b in pairs])
    sxy = _sum([(a - mx) * (b - my) for a, b in pairs])
    if sxx == 0:
        return None
    m = sxy / sxx
    r = None if syy == 0 else sxy / _math.sqrt(sxx * syy)
    return {"m": m, "b": my - m * mx, "r": r, "r2": None if r is None else r * r}


def _least_squares(rows, values):
    """By Householder reflections; None when a column depends on the others."""
    a = [list(row) for row in rows]
    b = list(values)
    n, columns = len(a), len(a[0])
    if n < columns:
        return None
    largest = [_math.sqrt(_sum([row[k] * row[k] for row in a])) for k in range(columns)]
    for k in range(columns):
        norm = _math.sqrt(_sum([a[i][k] * a[i][k] for i in range(k, n)]))
        if not norm > 1e-12 * largest[k]:
            return None
        if a[k][k] > 0:
            norm = -norm
        v = [0.0 if i < k else a[i][k] - norm if i == k else a[i][k] for i in range(n)]
        size = _sum([value * value for value in v])
        for j in range(k, columns):
            t = 2 * _sum([v[i] * a[i][j] for i in range(k, n)]) / size
            for i in range(k, n):
                a[i][j] -= t * v[i]
        t = 2 * _sum([v[i] * b[i] for i in range(k, n)]) / size
        for i in range(k, n):
            b[i] -= t * v[i]
    solved = [0.0] * columns
    for k in range(columns - 1, -1, -1):
        rest = b[k]
        for j in range(k + 1, columns):
            rest -= a[k][j] * solved[j]
        solved[k] = rest / a[k][k]
    return solved


def _quality(y, fitted):
    sse = _sum([(a - b) * (a - b) for a, b in zip(y, fitted)])
    total = _squares(y)
    return {"error": _math.sqrt(sse / len(y)), "rsquared": None if total == 0 else 1 - sse / total}


def _apply(row, factors):
    return _sum([value * factor for value, factor in zip(row, factors)])


def MathMULTREG(rows):
    if not _is_list(rows) or len(rows) == 0 or not all(_is_list(row) and len(row) == len(rows[0]) and len(row) >= 2 for row in rows):
        return None
    points = [_list_of(row) for row in rows if all(_is_number(value) for value in row)]
    if not points:
        return None
    y = [row[-1] for row in points]
    design = [[1.0, *row[:-1]] for row in points]
    slopes = _least_squares(design, y)
    if slopes is None:
        return None
    fitted = [_apply(row, slopes) for row in design]
    return {"rsquared": _quality(y, fitted)["rsquared"], "slopes": slopes, "points": fitted}


def _pairs_of(pairs):
    if not _is_list(pairs):
        return []
    return [[_plain(pair[0]), _plain(pair[1])] for pair in pairs if _is_list(pair) and len(pair) >= 2 and _is_number(pair[0]) and _is_number(pair[1])]


def MathPOLYREG(pairs, degree):
    given = _pairs_of(pairs)
    if not _is_number(degree) or degree < 0 or degree > 20 or degree % 1 != 0 or len(given) < degree + 1:
        return None
    y = [pair[1] for pair in given]
    design = [[float(pair[0]) ** power for power in range(int(degree) + 1)] for pair in given]
    slopes = _least_squares(design, y)
    if slopes is None:
        return None
    fitted = [_apply(row, slopes) for row in design]
    return {"points": [[pair[0], value] for pair, value in zip(given, fitted)], "slopes": slopes, "error": _quality(y, fitted)["error"]}


def _safely(model, x, p):
    try:
        value = model(x, p)
        return value if isinstance(value, (int, float)) else _math.nan
    except (OverflowError, ZeroDivisionError, ValueError):
        return _math.nan


def _curve_fit(model, x, y, initial):
    """y = f(x, parameters) by Levenberg and Marquardt's method from given starting values; None when they give no value."""

    def sse(p):
        return _sum([(b - _safely(model, a, p)) ** 2 for a, b in zip(x, y)])

    p = [float(value) for value in initial]
    count = len(p)
    best = sse(p)
    damping = 1e-3
    if not _is_number(best):
        return None
    for _ in range(500):
        rest = [b - _safely(model, a, p) for a, b in zip(x, y)]
        slopes = []
        for a in x:
            row = []
            for k in range(count):
                h = 1e-6 * max(abs(p[k]), 1e-3)
                up = [other + h if j == k else other for j, other in enumerate(p)]
                down = [other - h if j == k else other for j, other in enumerate(p)]
                row.append((_safely(model, a, up) - _safely(model, a, down)) / (2 * h))
            slopes.append(row)
        step = None
        if all(_is_number(value) for row in slopes for value in row):
            weights = [_math.sqrt(damping * _sum([row[k] * row[k] for row in slopes])) for k in range(count)]
            ridge = [[weights[k] if j == k else 0.0 for j in range(count)] for k in range(count)]
            step = _least_squares(slopes + ridge, rest + [0.0] * count)
        following = None if step is None else [p[k] + step[k] for k in range(count)]
        then = _math.nan if following is None else sse(following)
        if following is not None and then <= best:
            small = all(abs(step[k]) <= 1e-13 * (abs(following[k]) + 1e-13) for k in range(count))
            p, best = following, then
            damping = max(damping / 10, 1e-16)
            if small:
                break
        else:
            damping *= 10
            if damping > 1e8:
                break
    return p


_MODELS = {
    "exponentialDecay": (3, lambda x, p: p[0] * _math.exp(-x / p[1]) + p[2]),
    "saturation": (3, lambda x, p: p[0] * (1 - _math.exp(-x / p[1])) + p[2]),
    "michaelisMenten": (2, lambda x, p: p[0] * x / (p[1] + x)),
    "power": (2, lambda x, p: p[0] * x ** p[1]),
}


def NonLinearRegression(data, options):
    given = _pairs_of(data)
    equation = (options or {}).get("equation")
    initial = (options or {}).get("initial")
    if equation not in _MODELS:
        raise ValueError(f"NonLinearRegression has no equation '{equation}'")
    count, model = _MODELS[equation]
    if not _is_list(initial) or len(initial) != count or not all(_is_number(value) for value in initial):
        raise ValueError(f"The equation '{equation}' needs {count} initial values")
    if len(given) < count:
        return None
    x = [pair[0] for pair in given]
    y = [pair[1] for pair in given]
    parameters = _curve_fit(model, x, y, initial)
    if parameters is None:
        return None
    fitted = [_safely(model, a, parameters) for a in x]
    return {"equation": equation, "parameters": parameters, "points": [[a, _finite(b)] for a, b in zip(x, fitted)], **_quality(y, fitted)}


def MathEXPINVREG(pairs):
    """y = asymptote + amplitude * exp(-x / lifetime), started from the best of a grid of lifetimes."""
    given = _pairs_of(pairs)
    if len(given) < 3:
        return None
    x = [pair[0] for pair in given]
    y = [pair[1] for pair in given]
    span = max(x) - min(x)
    if span == 0 or _squares(y) == 0:
        return None
    model = _MODELS["exponentialDecay"][1]
    best = None
    for at in range(41):
        lifetime = span * 10 ** (-2 + at / 10)
        linear = _least_squares([[1.0, _math.exp(-a / lifetime)] for a in x], y)
        if linear is None:
            continue
        start = [linear[1], lifetime, linear[0]]
        sse = _sum([(b - _safely(model, a, start)) ** 2 for a, b in zip(x, y)])
        if best is None or sse < best[0]:
            best = (sse, start)
    if best is None:
        return None
    amplitude, lifetime, asymptote = _curve_fit(model, x, y, best[1])
    fitted = [_safely(model, a, [amplitude, lifetime, asymptote]) for a in x]
    results = [[a, b] for a, b in zip(x, fitted)]
    return {"points": given, "results": results, **_quality(y, fitted), "asymptote": asymptote, "amplitude": amplitude, "lifetime": lifetime, "slope": -1 / lifetime}


_ARITHMETIC = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: None if b == 0 else a / b}
_NAMED = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_FUNCTIONS = {
    "sqrt": lambda x: None if x < 0 else _math.sqrt(x),
    "log": MathLN,
    "ln": MathLN,
    "log10": MathLOG,
    "exp": lambda x: _math.exp(x) if x < 709 else None,
    "sin": _math.sin,
    "cos": _math.cos,
    "tan": _math.tan,
}
_SMOOTHING = [-2, 3, 6, 7, 6, 3, -2]


def _smooth(trace, weights):
    """A weighted window around each value; the first and the last value stand in for what lies outside."""
    half = (len(weights) - 1) // 2
    smoothed = []
    for at in range(len(trace)):
        window = [(weight, trace[min(max(at + k - half, 0), len(trace) - 1)]) for k, weight in enumerate(weights)]
        known = all(_is_number(value) for _, value in window)
        smoothed.append(_sum([weight * value for weight, value in window]) / _sum(weights) if known else None)
    return smoothed


def TransformTrace(fn, a1, a2=None):
    trace = _list_of(a1)
    if trace is None:
        return None

    def each(change):
        return [_finite(change(value)) if _is_number(value) else None for value in trace]

    def by(divisor):
        return each(lambda value: value / divisor) if _is_number(divisor) and divisor != 0 else None

    name = _NAMED.get(fn, fn)
    if name in _ARITHMETIC:
        act = _ARITHMETIC[name]
        if _is_list(a2):
            others = _list_of(a2)
            return None if len(others) != len(trace) else [_finite(act(a, b)) if _is_number(a) and _is_number(b) else None for a, b in zip(trace, others)]
        return each(lambda value: act(value, a2)) if _is_number(a2) else None
    if name in _FUNCTIONS:
        return each(_FUNCTIONS[name])
    if name == "normToMin":
        return by(MathMIN(trace))
    if name == "normToMax":
        return by(MathMAX(trace))
    if name == "normToRange":
        low = MathMIN(trace)
        if low is None or MathMAX(trace) == low:
            return None
        return each(lambda value: (value - low) / (MathMAX(trace) - low))
    if name == "normToIdx":
        return by(trace[int(a2)] if _is_number(a2) and 0 <= a2 < len(trace) and a2 % 1 == 0 else None)
    if name == "normToVal":
        return by(a2)
    if name == "ma":
        size = 5 if a2 is None else a2
        return _smooth(trace, [1] * int(size)) if _is_number(size) and size >= 1 and size % 2 == 1 else None
    if name == "sgf":
        return _smooth(trace, _SMOOTHING)
    if name == "abs":
        return each(lambda value: -_math.log10(value / a2) if value > 0 else None) if _is_number(a2) and a2 > 0 else None
    raise ValueError(f"TransformTrace has no function '{fn}'")


def calcSunAngle(roll, pitch, compass, azimuth, altitude):
    """Between the sun and the upward normal of a surface: a positive pitch lifts the front, a positive roll lowers the right."""
    if not all(_is_number(value) for value in (roll, pitch, compass, azimuth, altitude)):
        return None
    r, p, c, z, h = (value * _math.pi / 180 for value in (roll, pitch, compass, azimuth, altitude))
    front = -_math.sin(p) * _math.cos(r)
    right = _math.sin(r)
    north = front * _math.cos(c) - right * _math.sin(c)
    east = front * _math.sin(c) + right * _math.cos(c)
    up = _math.cos(p) * _math.cos(r)
    cosine = min(1.0, max(-1.0, north * _math.cos(h) * _math.cos(z) + east * _math.cos(h) * _math.sin(z) + up * _math.sin(h)))
    return {"angle": _math.acos(cosine) * 180 / _math.pi, "percent": max(0.0, cosine) * 100}


def tell(kind, own):
    """`info`, `warning` and `danger`: a message in the output, by default of the item that runs."""

    def say(message, output=None):
        target = own if output is None else output
        target.setdefault("messages", {}).setdefault(kind, []).append(str(message))

    return say
