"""The system's Python inside a box: reads messages from stdin, answers on stdout, stops an item by an alarm or by ending the copy that runs it."""

import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
# What whoever started the service left open would be open to macros, too.
os.closerange(3, 65536)
answers = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)

import harness  # noqa: E402
import curves  # noqa: E402
import fits  # noqa: E402
import helpers  # noqa: E402

sys.path.pop(0)
FOR_LATER = ["statistics", "_strptime", "scipy.stats", "scipy.optimize", "scipy.signal", "scipy.interpolate", "scipy.integrate"]


# An output of 10 MB that is all escapes, and the logs; as in process.ts.
ANSWER_BYTES = 21_000_000
# After the alarm, and before the service gives up the whole process.
LATE_S = 0.12


def reply(text):
    data = f"\x1e{text}\n".encode()
    while data:
        data = data[os.write(answers, data) :]


def alarm(*_):
    # Again and again, in case the macro holds on to it.
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    raise harness.ItemTimeout()


def run_item(runner, message):
    signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, runner.item_ms / 1000)
    try:
        answer = runner.item(message)
        signal.setitimer(signal.ITIMER_REAL, 0)
        return answer
    except harness.ItemTimeout:
        signal.setitimer(signal.ITIMER_REAL, 0)
        return failure(message, runner, "TimeoutError", f"The macro ran longer than {runner.item_ms / 1000:g} s on this item.", ',"last":true')


def failure(message, runner, kind, text, more=""):
    error = json.dumps({"type": kind, "message": text})
    return f'{{"i":{int(message["i"])},"ok":false,"error":{error},"logs":[],"ms":{runner.item_ms}{more}}}'


def close_in(runner, message, results):
    """What a copy of this process does: it may answer one item, knows no way to the messages and the answers of others, and may start no process."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.close(answers)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    harness.reseed()
    data = run_item(runner, message).encode()
    while data:
        data = data[os.write(results, data) :]


def read_copy(results, deadline):
    """All that a copy writes until it closes its end; None when it takes too long or writes more than an answer may hold."""
    pieces = []
    size = 0
    while size <= ANSWER_BYTES:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([results], [], [], left)[0]:
            return None
        piece = os.read(results, 1 << 20)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
    return None


def run_apart(runner, message):
    """Runs an item in a copy of this process, in which no macro has run: whatever it changes ends with the copy."""
    results, theirs = os.pipe()
    deadline = time.monotonic() + runner.item_ms / 1000 + LATE_S
    copy = os.fork()
    if copy == 0:
        try:
            os.close(results)
            close_in(runner, message, theirs)
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        said = read_copy(results, deadline)
    finally:
        os.close(results)
        os.kill(copy, signal.SIGKILL)
        ended = os.waitpid(copy, 0)[1]
    if said is None:
        return failure(message, runner, "TimeoutError", f"The macro ran longer than {runner.item_ms / 1000:g} s on this item.")
    # The text is in the macro's hands: it is one line and stays within its item, whatever it says.
    if not said.startswith(b"{") or not said.endswith(b"}") or b"\n" in said:
        how = f"signal {os.WTERMSIG(ended)}" if os.WIFSIGNALED(ended) else f"exit code {os.WEXITSTATUS(ended)}"
        return failure(message, runner, "CrashError", f"The process of this macro ended while it worked on this item ({how}).")
    return f'{said[:-1].decode(errors="replace")},"i":{int(message["i"])},"last":false}}'


def load(name):
    # A library that is missing or refuses to load does so again in the macro, which is told why.
    try:
        importlib.import_module(name)
    except Exception:
        pass


def prepare(runner):
    """What every copy would do again is done once: imports, and putting what is there beyond the garbage collector's reach."""
    for name in runner.modules:
        load(name)
    gc.freeze()


def main():
    runner = harness.Runner(helpers, fits, curves)
    reply('{"ready":true}')
    # Slow imports use the time in which nobody is waiting.
    while FOR_LATER and not select.select([0], [], [], 0)[0]:
        load(FOR_LATER.pop(0))
    source = os.fdopen(0, "rb", closefd=False)
    for line in source:
        message = json.loads(line)
        if message["op"] == "job":
            while FOR_LATER and ("scipy" in message["code"] or "MathEXPINVREG" in message["code"]):
                load(FOR_LATER.pop(0))
            runner.job(message)
            if not runner.shared:
                prepare(runner)
            reply('{"go":true}')
        elif message["op"] == "item":
            reply(run_item(runner, message) if runner.shared else run_apart(runner, message))
        elif message["op"] == "check":
            reply(json.dumps({"problems": runner.check(message["code"])}))


main()
