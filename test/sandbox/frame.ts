import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { dirname, join } from 'node:path';
import type { Trial, Verdict } from './outside.ts';

// The first process of a disposable frame: it makes a world to escape into, runs one attempt in a plain interpreter and says on stdout what it saw of
// the attempt's goal. With it ends everything that the attempt has started.

const trial = JSON.parse(process.argv[2] ?? '') as Trial;
const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = '/tmp/outside';
const CANARY = 'the-canary-sings';
const RECORD = '\u001e';

/** The frame has its own names, mounts, network and processes: here the system's files may be written and an address of the cloud is this machine. */
const furnish = () => {
  const kept = [ROOT, dirname(process.execPath)].filter((folder) => folder.startsWith('/tmp/'));
  const commands = [
    'mount -t tmpfs -o size=512m tmpfs /mnt',
    'mkdir /mnt/.upper /mnt/.work',
    // a project below /tmp is still there when the frame's own is put over it
    'for folder in "$@"; do mkdir -p "/mnt${folder#/tmp}"; mount --rbind "$folder" "/mnt${folder#/tmp}"; done',
    // without a note of it below /run, where only the root of the machine may write
    'mount --no-mtab --move /mnt /tmp',
    'mount -t overlay -o lowerdir=/usr,upperdir=/tmp/.upper,workdir=/tmp/.work,userxattr overlay /usr',
    'ip link set lo up',
    'ip addr add 169.254.169.254/32 dev lo',
  ];
  execFileSync('/bin/sh', ['-ec', commands.join('\n'), 'furnish', ...kept], { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } });
  mkdirSync(FOLDER);
  writeFileSync(`${FOLDER}/canary`, `${CANARY}\n`);
  writeFileSync(`${FOLDER}/spare`, '');
  // should memory run short, this is what the system ends first; the children inherit it
  writeFileSync('/proc/self/oom_score_adj', '1000');
};

let calls = 0;
const listen = async (server: Server, port: number, host: string) =>
  new Promise<number>((resolve) => server.listen(port, host, () => resolve((server.address() as AddressInfo).port)));
const talk = () =>
  createServer((socket) => {
    calls += 1;
    socket.on('error', () => undefined).end('hello');
  });
const serve = () =>
  createHttpServer((_, response) => {
    calls += 1;
    response.end('hello\n');
  });

/** Memory in use and number of the processes that have come into the frame, in bytes. */
const population = (known: ReadonlySet<number>): { memory: number; processes: number } => {
  let memory = 0;
  let processes = 0;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || known.has(pid)) continue;
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      if (/^State:\s+[ZX]/m.test(status)) continue;
      processes += 1;
      memory += Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
    } catch {
      // it has ended meanwhile
    }
  }
  return { memory, processes };
};

/** Two processes that answer at once may garble a line, which then says nothing. */
const toRecord = (line: string): Record<string, unknown> => {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
};

const finish = (verdict: Verdict): never => {
  writeFileSync(1, JSON.stringify(verdict));
  process.exit(0);
};

furnish();
const free = createServer();
const victim = spawn('/bin/sleep', ['600'], { stdio: 'ignore' });
const data = {
  canary: `${FOLDER}/canary`,
  folder: FOLDER,
  port: await listen(talk(), 0, '127.0.0.1'),
  http: await listen(serve(), 0, '127.0.0.1'),
  free: await listen(free, 0, '127.0.0.1'),
  victim: victim.pid,
};
free.close();
await listen(serve(), 80, '169.254.169.254');
writeFileSync(`/tmp/${trial.script}`, trial.program);

const child = spawn(trial.file, [...trial.args, `/tmp/${trial.script}`, JSON.stringify(data)], {
  cwd: '/tmp',
  env: { PATH: '/usr/bin:/bin', FIELDLAKE_SECRET: 'sesame', HOME: '/tmp', LANG: 'C.UTF-8' },
  // an input that says nothing, and a channel of answers beside the one that is printed to
  stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
});
const known = new Set([process.pid, victim.pid ?? 0]);
let begun = 0;
let answered = '';
let complaint = '';
let written = 0;
let text = '';
const see = (chunk: Buffer) => {
  written += chunk.length;
  if (trial.goal === 'writes' && written >= trial.written) finish({ worked: true, seen: `${Math.round(written / 1e6)} MB came out` });
  text = (text + chunk.toString('latin1')).slice(-100_000);
  if (trial.goal === 'sings' && text.includes(CANARY)) finish({ worked: true, seen: `the canary's text came out` });
  for (let at = text.indexOf(RECORD); at >= 0 && text.includes('\n', at); at = text.indexOf(RECORD)) {
    const line = text.slice(at + 1, text.indexOf('\n', at));
    text = text.slice(text.indexOf('\n', at) + 1);
    const record = toRecord(line);
    if (record.begun === true) begun = performance.now();
    else answered = line;
    const { escaped } = record;
    if (trial.goal === 'says' && escaped !== undefined && escaped !== null)
      finish({ worked: true, seen: JSON.stringify(escaped).slice(0, 60) });
  }
};
child.stdout.on('data', see);
(child.stdio[3] as NodeJS.ReadableStream).on('data', see);
child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-500)));
const failed = (why: string) => finish({ worked: false, seen: `${why} ${answered} ${complaint}`.trim() });
child.once('close', (code, signal) => {
  if (trial.goal === 'ends' && begun > 0 && answered === '')
    finish({ worked: true, seen: `ended without an answer: ${signal ?? String(code)}` });
  failed('It ended:');
});
setInterval(() => {
  const { memory, processes } = population(known);
  if (trial.goal === 'memory' && memory > trial.memory) finish({ worked: true, seen: `${Math.round(memory / 1e6)} MB in use` });
  if (trial.goal === 'processes' && processes > trial.processes) finish({ worked: true, seen: `${processes} processes` });
  if (trial.goal === 'calls' && calls > 0) finish({ worked: true, seen: 'the listener was called' });
  const running = begun === 0 ? 0 : performance.now() - begun;
  if (trial.goal === 'runs' && answered === '' && processes > 0 && running > trial.past)
    finish({ worked: true, seen: `still at it after ${Math.round(running)} ms` });
}, 20);
setTimeout(() => failed('It did not reach its goal in time:'), trial.patience);
process.stdin.on('end', () => process.exit(1)).resume();
