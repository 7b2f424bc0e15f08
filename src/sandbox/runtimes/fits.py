"""Linear fits and the fit of an exponential decay, as in the system that most macros come from."""

import math as _math
import warnings as _warnings

from curves import _curve_fit
from helpers import _is_real, _items


def _rows_of(rows):
    """Rows of numbers, all of one length; None of anything else."""
    found = [_items(row) for row in _items(rows) or []]
    if not found or any(row is None or len(row) != len(found[0]) or not all(_is_real(value) for value in row) for row in found):
        return None
    return found


def _total(values):
    return _math.fsum(values) if all(_math.isfinite(value) for value in values) else sum(values)


def _turn_columns(columns, turned):
    """One round of Jacobi's: pairs of columns are turned until they stand upright on each other. False when all do."""
    changed = False
    for i in range(len(columns)):
        for j in range(i + 1, len(columns)):
            a = _total([value * value for value in columns[i]])
            b = _total([value * value for value in columns[j]])
            c = _total([x * y for x, y in zip(columns[i], columns[j])])
            if not abs(c) > 1e-16 * _math.sqrt(a * b):
                continue
            changed = True
            slope = (b - a) / (2 * c)
            t = (1 if slope >= 0 else -1) / (abs(slope) + _math.sqrt(1 + slope * slope))
            cosine = 1 / _math.sqrt(1 + t * t)
            for pair in (columns, turned):
                pair[i], pair[j] = (
                    [cosine * (x - t * y) for x, y in zip(pair[i], pair[j])],
                    [cosine * (t * x + y) for x, y in zip(pair[i], pair[j])],
                )
    return changed


def _least_squares(columns, y, share):
    """The shortest of all vectors that fit best; singular values below `share` of the largest count as 0."""
    count = len(columns)
    turned = [[1.0 if i == j else 0.0 for j in range(count)] for i in range(count)]
    columns = [list(map(float, column)) for column in columns]
    for _ in range(60):
        if not _turn_columns(columns, turned):
            break
    sizes = [_math.sqrt(_total([value * value for value in column])) for column in columns]
    solved = [0.0] * count
    for column, direction, size in zip(columns, turned, sizes):
        if size > share * max(sizes):
            length = _total([value * b for value, b in zip(column, y)]) / (size * size)
            solved = [value + length * part for value, part in zip(solved, direction)]
    return solved


def _share_explained(y, fitted):
    mean = _total(y) / len(y)
    total = _total([(value - mean) ** 2 for value in y])
    rest = _total([(value - other) ** 2 for value, other in zip(y, fitted)])
    return 1 - rest / total if total != 0 else 0


_EPSILON = 2.0**-52


def MathMULTREG(rows):
    """The last column is y."""
    if not rows if isinstance(rows, (list, tuple, dict, str)) or rows is None else len(rows) == 0:
        return None
    given = _rows_of(rows)
    if given is None or len(given) < 2 or len(given[0]) == 0:
        return None
    y = [row[-1] for row in given]
    columns = [[1.0] * len(given), *(list(column) for column in list(zip(*given))[:-1])]
    if all(_math.isfinite(value) for row in given for value in row):
        coefficients = _least_squares(columns, y, _EPSILON * max(len(given), len(columns)))
        explained = _share_explained(y, [sum(value * factor for value, factor in zip(row, coefficients)) for row in zip(*columns)])
    else:
        coefficients, explained = [_math.nan] * len(columns), _math.nan
    return {"coefficients": coefficients, "r_squared": explained, "intercept": coefficients[0], "slopes": coefficients[1:]}


def MathPOLYREG(pairs, degree):
    """The highest power first."""
    if pairs is None or len(pairs) < degree + 1:
        return None
    given = _rows_of(pairs)
    count = int(degree)
    if given is None or len(given[0]) < 2 or count < 0 or not all(_math.isfinite(value) for row in given for value in row[:2]):
        return None
    x = [float(row[0]) for row in given]
    y = [float(row[1]) for row in given]
    columns = [[value**power for value in x] for power in range(count, -1, -1)]
    sizes = [_math.sqrt(_total([value * value for value in column])) or 1.0 for column in columns]
    scaled = [[value / size for value in column] for column, size in zip(columns, sizes)]
    coefficients = [value / size for value, size in zip(_least_squares(scaled, y, _EPSILON * len(x)), sizes)]
    fitted = [sum(value * factor for value, factor in zip(row, coefficients)) for row in zip(*columns)]
    return {"coefficients": coefficients, "r_squared": _share_explained(y, fitted), "degree": degree}


def _decay(x, p):
    return p[0] + p[1] * _math.exp(-x / p[2])


def _fit_decay(x, y, initial):
    """By scipy where it is, whose last digits are those of its method."""
    try:
        import numpy
        from scipy.optimize import curve_fit
    except ImportError:
        return _curve_fit(_decay, x, y, initial)
    with _warnings.catch_warnings():
        _warnings.simplefilter("ignore")
        fitted, _ = curve_fit(lambda a, y0, amplitude, t: y0 + amplitude * numpy.exp(-a / t), numpy.array(x), numpy.array(y), p0=initial)
    return fitted.tolist()


def MathEXPINVREG(pairs):
    """y = y0 + a · e^(-x / t)"""
    if pairs is None or len(pairs) < 3:
        return None
    given = _rows_of(pairs)
    if given is None or len(given[0]) < 2:
        return None
    x = [row[0] for row in given]
    y = [row[1] for row in given]
    try:
        parameters = _fit_decay(x, y, [min(y), max(y) - min(y), (max(x) - min(x)) / 3])
        explained = _share_explained(y, [_decay(a, parameters) for a in x])
    except Exception:
        return None
    y0, a, t = parameters
    return {"y0": y0, "a": a, "t": t, "r_squared": explained, "parameters": parameters}
