"""debugpy, which Visual Studio Code and notebooks use, stops in jitted functions where it stops in plain ones."""

import itertools
import json
import os
import subprocess
import sys

import pytest

from tests.harness import MODES

pytest.importorskip("debugpy")
pytestmark = pytest.mark.unshared

PROGRAM = """
import sys
import numpy as np
import pijit

def scaled(y, k):
    z = y * 2.0
    return z + k  # inlined

def case(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] * 2.0
        y = scaled(x[i], i)
        total = total * 0.5 + y  # loop
    return total

x = np.arange(6.0)
f = pijit.jit(case, jit_config={options!r}) if sys.argv[1] == "jitted" else case
for _ in range(4):
    f(x, 6)  # warm
result = f(x, 6)
print(result)
"""


class Client:
    """Speaks the Debug Adapter Protocol with debugpy's adapter."""

    def __init__(self):
        self.adapter = subprocess.Popen([sys.executable, "-m", "debugpy.adapter"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.numbers = itertools.count(1)
        self.waiting = []

    def send(self, command, **arguments):
        number = next(self.numbers)
        content = json.dumps({"seq": number, "type": "request", "command": command, "arguments": arguments}).encode()
        self.adapter.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.adapter.stdin.flush()
        return number

    def _read(self):
        length = None
        for line in iter(self.adapter.stdout.readline, b"\r\n"):
            assert line, "the adapter has ended"
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.adapter.stdout.read(length))

    def wait(self, fits):
        """The first message that fits, of those that were left and those that come."""
        for message in self.waiting:
            if fits(message):
                self.waiting.remove(message)
                return message
        while True:
            message = self._read()
            if fits(message):
                return message
            self.waiting.append(message)

    def event(self, *names):
        return self.wait(lambda message: message["type"] == "event" and message["event"] in names)

    def ask(self, command, **arguments):
        number = self.send(command, **arguments)
        answer = self.wait(lambda message: message["type"] == "response" and message["request_seq"] == number)
        assert answer["success"], answer
        return answer.get("body")

    def end(self):
        self.adapter.kill()
        self.adapter.wait()
        self.adapter.stdin.close()
        self.adapter.stdout.close()


def lines_of(program, *marks):
    return [next(number for number, line in enumerate(program.split("\n"), 1) if mark in line) for mark in marks]


def stopped_at(client, thread):
    """The frames, with lines, and the variables of the innermost one."""
    frames = client.ask("stackTrace", threadId=thread)["stackFrames"]
    scopes = client.ask("scopes", frameId=frames[0]["id"])["scopes"]
    variables = client.ask("variables", variablesReference=scopes[0]["variablesReference"])["variables"]
    return ([(frame["name"], frame["line"]) for frame in frames],
            sorted((one["name"], one["value"].split("\n")[0]) for one in variables if "variables" not in one["name"]))


def session(path, program, kind, moves):
    """Where a debugger stops that makes these moves from the first breakpoint on."""
    client = Client()
    try:
        client.ask("initialize", adapterID="tests", pathFormat="path", linesStartAt1=True, columnsStartAt1=True)
        client.send("launch", program=path, args=[kind], python=[sys.executable], console="internalConsole", justMyCode=False,
                    cwd=os.path.dirname(path), env=dict(os.environ), redirectOutput=False)
        client.event("initialized")
        warm, = lines_of(program, "# warm")
        client.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": warm + 1}])
        client.ask("configurationDone")
        seen = []
        for move in moves:
            stop = client.event("stopped", "terminated")
            if stop["event"] == "terminated":
                break
            thread = stop["body"]["threadId"]
            seen.append((stop["body"]["reason"], stopped_at(client, thread)))
            if isinstance(move, list):
                client.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": line} for line in move])
                move = "continue"
            client.ask(move, threadId=thread)
        return seen
    finally:
        client.end()


def test_debugpy_stops_where_it_stops_in_python(tmp_path):
    options = {key: os.environ[name] for key, name in MODES.items() if os.environ.get(name)}
    program = PROGRAM.replace("{options!r}", repr(options))
    path = tmp_path / "debugged.py"
    path.write_text(program)
    inlined, loop, end = lines_of(program, "# inlined", "# loop", "print(")
    moves = [[inlined], "continue", "next", "stepIn", [loop], "next", "stepIn", "stepOut", [inlined, loop, end], "continue", "continue", [end],
             "continue"]
    plain, jitted = (session(str(path), program, kind, moves) for kind in ("plain", "jitted"))
    assert len(plain) == len(moves)
    assert jitted == plain
