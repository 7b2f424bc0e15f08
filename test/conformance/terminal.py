# Runs a command in a terminal of its own. Says "ready" when its output does, and closes the terminal when a line comes in.
import os
import pty
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b""
while b"fieldlake is ready at" not in said:
    said += os.read(terminal, 4096)
print("ready", flush=True)
sys.stdin.readline()
os.close(terminal)
os.waitpid(pid, 0)
print("closed", flush=True)
