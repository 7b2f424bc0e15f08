// `bare.py` in a bare Pyodide: no box, no harness.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { loadPyodide } from 'pyodide';

const python = await loadPyodide({ stdout: () => undefined, stderr: () => undefined });
python.runPython(readFileSync(new URL('bare.py', import.meta.url), 'utf8'));
const answer = python.globals.get('answer') as (line: string) => string;
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${answer(line)}\n`);
