"""Fits and the angle of the sun of our own; curves.js and curves.R state the same behaviour, held together by fixtures/macros/curves.json.

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


def _sum(values):
    total = 0
    for value in values:
        total += value
    return total


def _finite(value):
    return value if _is_number(value) else None


def _squares(given):
    mean = _sum(given) / len(given)
    return _sum([(value - mean) * (value - mean) for value in given])


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


def _pairs_of(pairs):
    if not _is_list(pairs):
        return []
    return [[_plain(pair[0]), _plain(pair[1])] for pair in pairs if _is_list(pair) and len(pair) >= 2 and _is_number(pair[0]) and _is_number(pair[1])]


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


def FitCurve(data, options):
    given = _pairs_of(data)
    equation = (options or {}).get("equation")
    initial = (options or {}).get("initial")
    if equation not in _MODELS:
        raise ValueError(f"FitCurve has no equation '{equation}'")
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


def FitExponential(pairs):
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


def SunAngle(roll, pitch, compass, azimuth, altitude):
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
