"""Runs Python macros, one item at a time, in the system's Python and in Pyodide alike. It needs the modules of the helper functions, `helpers` first."""

import ast
import builtins
import datetime
import json
import math
import random
import sys
import time
import types
import warnings

import proof

LOG_BYTES = 64_000
OUTPUT_BYTES = 10_000_000
MAX_DEPTH = 100
FILE = "<macro>"

ALLOWED = (
    "math cmath statistics json datetime re itertools functools collections decimal fractions random string operator copy bisect heapq enum dataclasses "
    "typing textwrap unicodedata calendar zoneinfo abc numbers array struct base64 hashlib warnings time "
    "numpy pandas scipy"
).split()
# What library code written in C imports through the frame that called it.
INTERNAL = "_strptime _pydatetime _pydecimal _io encodings locale copyreg warnings dateutil pytz six".split()
REMOVED = "open input breakpoint exit quit help license credits copyright compile eval exec memoryview __loader__ __spec__".split()


class OutputError(Exception):
    """The result of a macro is not something that can be sent on."""


class ItemTimeout(BaseException):
    """Raised by the alarm; a macro that catches Exception does not catch it."""


class Logs:
    """Stands in for stdout and stderr while a macro runs."""

    def __init__(self):
        self.text = []
        self.size = 0

    def write(self, text):
        text = str(text)
        if self.size < LOG_BYTES:
            self.text.append(text[: LOG_BYTES - self.size])
            if self.size + len(text) > LOG_BYTES:
                self.text.append(" … (cut)")
        self.size += len(text)
        return len(text)

    def flush(self):
        pass

    def lines(self):
        text = "".join(self.text)
        return text[:-1].split("\n") if text.endswith("\n") else text.split("\n") if text else []


def guarded_import(name, globals=None, locals=None, fromlist=(), level=0):
    top = name.partition(".")[0]
    if level != 0 or (top not in ALLOWED and top not in INTERNAL):
        raise ImportError(f"import of '{name}' is not allowed; allowed are {', '.join(ALLOWED)}")
    try:
        return __import__(name, globals, locals, fromlist, level)
    except ModuleNotFoundError:
        if top in ("numpy", "pandas", "scipy"):
            raise ImportError(f"'{name}' is not available here; {MISSING_HINT}") from None
        raise


MISSING_HINT = "install bubblewrap, python3, python3-numpy, python3-pandas and python3-scipy on the server"


class Unavailable:
    """Stands in for a module that this level does not have."""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)

    def __getattr__(self, attribute):
        raise ImportError(f"'{object.__getattribute__(self, '_name')}' is not available here; {MISSING_HINT}")


def module(name):
    try:
        return __import__(name)
    except ImportError:
        return Unavailable(name)


np = module("numpy")
pd = module("pandas")
scipy = module("scipy")
HAS_NUMPY = not isinstance(np, Unavailable)
HAS_PANDAS = not isinstance(pd, Unavailable)


def reseed():
    """For an interpreter that is a copy of another: both would draw the same numbers."""
    random.seed()
    if HAS_NUMPY:
        np.random.seed()


def read_only(value):
    if isinstance(value, dict):
        return types.MappingProxyType({key: read_only(entry) for key, entry in value.items()})
    if isinstance(value, list):
        return tuple(read_only(entry) for entry in value)
    return value


def to_plain(value, path="output", above=()):
    """JSON has no NaN and no infinities: they become null. Arrays become lists, data frames lists of records."""
    if value is None or isinstance(value, (bool, str)):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value) if -9007199254740991 <= value <= 9007199254740991 else str(int(value))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if HAS_NUMPY:
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, (np.integer, np.floating)) and not isinstance(value, np.timedelta64):
            # a wide float gives itself as its item
            return to_plain(float(value) if isinstance(value, np.longdouble) else value.item(), path, above)
        if isinstance(value, np.datetime64):
            return None if np.isnat(value) else str(value)
        if isinstance(value, np.timedelta64):
            return None if np.isnat(value) else value / np.timedelta64(1, "s")
    if HAS_PANDAS:
        if value is pd.NA or value is pd.NaT:
            return None
        if isinstance(value, (pd.Timestamp, pd.Period)):
            return value.isoformat() if isinstance(value, pd.Timestamp) else str(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        # that of pandas has nanoseconds, which its own total_seconds leaves out
        return value / datetime.timedelta(seconds=1)
    if isinstance(value, complex):
        raise OutputError(f"{path} is a complex number; send its parts")
    if any(value is outer for outer in above):
        raise OutputError(f"the output refers to itself at {path}")
    if len(above) >= MAX_DEPTH:
        raise OutputError(f"the output is nested more than {MAX_DEPTH} levels deep")
    inside = (*above, value)
    if isinstance(value, (dict, types.MappingProxyType)):
        return {key_text(key): to_plain(entry, f"{path}.{key}", inside) for key, entry in value.items()}
    if HAS_NUMPY and isinstance(value, np.ndarray):
        # tolist() makes times in nanoseconds plain numbers
        if value.dtype.kind in "mM":
            return [to_plain(entry, path, inside) for entry in value] if value.ndim > 0 else to_plain(value[()], path, above)
        return to_plain(value.tolist(), path, inside)
    if HAS_PANDAS:
        if isinstance(value, pd.DataFrame):
            columns = [str(column) for column in value.columns]
            return [{column: to_plain(entry, path, inside) for column, entry in zip(columns, row)} for row in value.itertuples(index=False, name=None)]
        if isinstance(value, (pd.Series, pd.Index)):
            return [to_plain(entry, path, inside) for entry in value.tolist()]
        if isinstance(value, (pd.Categorical, pd.api.extensions.ExtensionArray)):
            return [to_plain(entry, path, inside) for entry in value]
    if isinstance(value, (list, tuple, range)):
        return [to_plain(entry, f"{path}[{index}]", inside) for index, entry in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        entries = [to_plain(entry, path, inside) for entry in value]
        return sorted(entries, key=lambda entry: (str(type(entry)), entry)) if all(isinstance(entry, (int, float, str)) for entry in entries) else entries
    if type(value).__module__ == "decimal" or type(value).__module__ == "fractions":
        whole = math.isfinite(value) and abs(value) < 1e40 and value == int(value)
        return to_plain(int(value) if whole else float(value), path, above)
    raise OutputError(f"{path} is of type {type(value).__name__}, which JSON cannot hold")


def key_text(key):
    if isinstance(key, str):
        return str(key)
    plain = to_plain(key) if not isinstance(key, tuple) else ", ".join(key_text(part) for part in key)
    return plain if isinstance(plain, str) else json.dumps(plain)


def compile_macro(tree):
    """The macro's text as the body of a function, with its own line and column numbers. Raises SyntaxError."""
    shell = ast.parse("def __macro__(json, ctx, output):\n    pass")
    if tree.body:
        shell.body[0].body = tree.body
    if any(isinstance(node, ast.Name) and node.id == "output" and isinstance(node.ctx, ast.Store) for node in direct_nodes(tree.body)):
        # what the macro assigned counts as returned
        shell.body[0].body = [*tree.body, ast.copy_location(ast.parse("return output").body[0], tree.body[-1])]
        ast.fix_missing_locations(shell)
    for node in ast.walk(shell):
        if isinstance(node, (ast.Yield, ast.YieldFrom)) and node in direct_nodes(tree.body):
            raise SyntaxError("'yield' outside function", (FILE, node.lineno, node.col_offset + 1, None))
    return compile(shell, FILE, "exec", dont_inherit=True)


def direct_nodes(body):
    """Nodes that belong to the macro's own body, not to a function or class inside it."""
    found = []
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def syntax_problem(error):
    message = getattr(error, "msg", None) or str(error)
    return {"type": type(error).__name__, "message": message, "line": getattr(error, "lineno", None) or 1, "column": max(1, getattr(error, "offset", None) or 1)}


def describe(error):
    """Type, message and the innermost place in the macro's own text."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return syntax_problem(error)
    try:
        message = str(error)
    except BaseException:
        message = "the message of this error cannot be read"
    if isinstance(error, MemoryError) and message == "":
        message = "The macro needs more memory than it may have."
    described = {"type": type(error).__name__, "message": message}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            described["line"] = trace.tb_lineno
            places = list(trace.tb_frame.f_code.co_positions())
            column = places[trace.tb_lasti // 2][2] if trace.tb_lasti // 2 < len(places) else None
            if column is not None:
                described["column"] = column + 1
        trace = trace.tb_next
    return described


class Runner:
    """
    A process serves one macro: its code is compiled once, each item gets globals of its own. `shared` says whether its items may run in one interpreter; each
    item of any other macro needs one that nothing else has run in.
    """

    def __init__(self, helpers, *more):
        self.helpers = {
            name: value
            for module in (helpers, *more)
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value) and value.__module__ == module.__name__
        }
        self.tell = helpers.tell
        self.offered = {"json", "ctx", *self.namespace(None, {})} - {"__builtins__", "__name__"}
        self.source = None
        self.code = None
        self.shared = True
        self.modules = []
        self.refusal = None
        self.item_ms = 1000
        self.clock = None

    def job(self, message):
        self.item_ms = message["itemMs"]
        self.clock = message.get("clock")
        if message["code"] == self.source:
            return
        self.source = message["code"]
        self.code = self.refusal = None
        self.shared = True
        self.modules = []
        try:
            tree = ast.parse(self.source, FILE)
            self.shared = proof.keeps_to_itself(tree, self.offered)
            self.modules = [name for name in proof.imported_modules(tree) if name.partition(".")[0] in ALLOWED]
            self.code = compile_macro(tree)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.refusal = syntax_problem(error)

    def namespace(self, logs, output):
        allowed = {name: value for name, value in vars(builtins).items() if name not in REMOVED}
        allowed["__import__"] = guarded_import
        allowed["print"] = lambda *values, sep=" ", end="\n", file=None, flush=False: print(*values, sep=sep, end=end, file=logs)
        scope = {"__builtins__": allowed, "__name__": "macro", "np": np, "pd": pd, "scipy": scipy, "json_module": json, **self.helpers}
        for kind in ("info", "warning", "danger"):
            scope[kind] = self.tell(kind, output)
        return scope

    def item(self, message):
        """The answer to an item as JSON text."""
        started = time.perf_counter()
        logs = Logs()
        # Python keeps which warnings it has given; this makes it forget.
        warnings._filters_mutated()
        try:
            if self.refusal is not None:
                answer = {"ok": False, "error": self.refusal}
            else:
                answer = {"ok": True, "output": self.run(message, logs)}
            text = json.dumps(answer, allow_nan=False)
            if len(text) > OUTPUT_BYTES:
                raise OutputError("the output of this item is larger than 10 MB")
        except ItemTimeout:
            # The alarm may have come within a library, which is then not what it was.
            text = json.dumps({"ok": False, "error": {"type": "TimeoutError", "message": f"The macro ran longer than {self.item_ms / 1000:g} s on this item."}, "last": True})
        except BaseException as error:
            # What is left of a huge object slows the next item down.
            last = {"last": True} if isinstance(error, MemoryError) else {}
            text = json.dumps({"ok": False, "error": describe(error), **last})
        elapsed = (time.perf_counter() - started) * 1000
        return f'{{"i":{int(message["i"])},{text[1:-1]},"logs":{json.dumps(logs.lines())},"ms":{elapsed:.3f}}}'

    def run(self, message, logs):
        output = {}
        scope = self.namespace(logs, output)
        before = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = logs
        try:
            exec(self.code, scope)
            returned = scope["__macro__"](message["data"], read_only(message["ctx"]), output)
        finally:
            sys.stdout, sys.stderr = before
        if returned is not None and not isinstance(returned, (dict, types.MappingProxyType)):
            raise OutputError(f"a macro returns a dict, or fills output; put this {type(returned).__name__} under a key")
        return to_plain({**output, **returned} if returned is not None else output)

    def check(self, code):
        try:
            compile_macro(ast.parse(code, FILE))
            return []
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            problem = syntax_problem(error)
            return [{"line": problem["line"], "column": problem["column"], "message": problem["message"]}]
