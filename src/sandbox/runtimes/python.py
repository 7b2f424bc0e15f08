"""The system's Python inside a box: reads messages from stdin, answers on stdout, stops an item by an alarm."""

import importlib
import json
import os
import select
import signal
import sys

sys.path.insert(0, os.path.dirname(__file__))
answers = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)

import harness  # noqa: E402
import helpers  # noqa: E402

sys.path.pop(0)
FOR_LATER = ["statistics", "_strptime", "scipy.stats", "scipy.optimize", "scipy.signal", "scipy.interpolate", "scipy.integrate"]


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
        error = {"type": "TimeoutError", "message": f"The macro ran longer than {runner.item_ms / 1000:g} s on this item."}
        return json.dumps({"i": message["i"], "ok": False, "error": error, "logs": [], "ms": runner.item_ms})


def load_next():
    try:
        importlib.import_module(FOR_LATER.pop(0))
    except ImportError:
        pass


def main():
    runner = harness.Runner(helpers)
    reply('{"ready":true}')
    # Slow imports use the time in which nobody is waiting.
    while FOR_LATER and not select.select([0], [], [], 0)[0]:
        load_next()
    source = os.fdopen(0, "rb", closefd=False)
    for line in source:
        message = json.loads(line)
        if message["op"] == "job":
            while FOR_LATER and "scipy" in message["code"]:
                load_next()
            runner.job(message)
            reply('{"go":true}')
        elif message["op"] == "item":
            reply(run_item(runner, message))
        elif message["op"] == "check":
            reply(json.dumps({"problems": runner.check(message["code"])}))


main()
