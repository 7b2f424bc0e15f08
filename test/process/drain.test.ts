import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';
import { rawSocket, sendRaw } from '../support/raw-http.ts';
import { uploadTable } from '../support/uploads.ts';

const ROUNDS = process.env['SOAK'] === undefined ? 2 : 20;
const CALLERS = 50;

let site: BuiltSite;
let experiment: string;
beforeAll(async () => {
  site = await startBuiltSite();
  const body = { name: 'Drained', organizationId: site.cast.leafLab };
  const { id } = (await site.owner('POST', '/api/v1/experiments', { body })).body as { id: string };
  experiment = `/api/v1/experiments/${id}`;
  const rows = Array.from({ length: 200_000 }, (_, index) => `${index},${(index * 7919) % 100_003},row ${index}`);
  await uploadTable(site.owner, id, 'numbers', ['a,b,c', ...rows].join('\n'));
});
afterAll(() => site.stop());

/** Another process of the same service. */
const another = (): Promise<ServerProcess> => spawnServer(site.environment);

interface Counts {
  answered: number;
  refused: number;
  /** What was sent and had no whole answer, with why. */
  cut: string[];
}

/** One caller with one kept connection, who asks again as soon as it is answered, until the service takes no more connections. */
async function keepAsking(server: ServerProcess, path: string, counts: Counts): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { hostname, port } = new URL(server.baseUrl);
  const ask = () =>
    new Promise<boolean>((resolve) => {
      const asked = request({ hostname, port, path, agent, headers: { 'x-api-key': site.cast.owner.apiKey } }, (response) => {
        response.resume();
        response.once('end', () => {
          counts.answered += 1;
          if (!response.complete || response.statusCode !== 200) counts.cut.push(`status ${response.statusCode}`);
          resolve(true);
        });
        response.once('error', (error) => {
          counts.cut.push(`midway: ${error.message}`);
          resolve(false);
        });
      });
      asked.once('error', (error: NodeJS.ErrnoException) => {
        // what is refused a connection was not accepted
        if (error.code === 'ECONNREFUSED') counts.refused += 1;
        else counts.cut.push(`${error.code} ${error.message} ${asked.reusedSocket ? 'on a kept connection' : 'on a new connection'}`);
        resolve(false);
      });
      asked.end();
    });
  while (await ask());
  agent.destroy();
}

test(`SIGTERM under ${CALLERS} kept connections leaves no request without an answer, ${ROUNDS} times`, { timeout: 900_000 }, async () => {
  const paths = ['/health/live', experiment, `${experiment}/data?tableName=numbers`, `${experiment}/tables`];
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await another();
    const counts: Counts = { answered: 0, refused: 0, cut: [] };
    const callers = Array.from({ length: CALLERS }, (_, index) => keepAsking(server, paths[index % paths.length]!, counts));
    while (counts.answered < 500) await new Promise((resolve) => setTimeout(resolve, 20));
    const start = performance.now();
    const gone = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    await Promise.all([gone, ...callers]);
    expect(counts.cut, `round ${round}: ${counts.answered} answered`).toEqual([]);
    expect(counts.refused).toBe(CALLERS);
    expect(server.child.exitCode).toBe(0);
    expect(performance.now() - start).toBeLessThan(10_000);
  }
});

test('a download that runs is brought to its end, and one who holds a connection without a request does not hold the service', async () => {
  const server = await another();
  const headers = `Host: h\r\nx-api-key: ${site.cast.owner.apiKey}\r\nAccept: text/csv\r\n`;
  const whole = await sendRaw(server.baseUrl, `GET ${experiment}/data?tableName=numbers HTTP/1.1\r\n${headers}\r\n`);
  expect(whole.answers[0]!.status).toBe(200);

  const reader = await rawSocket(server.baseUrl);
  const idle = await rawSocket(server.baseUrl);
  const halfway = await rawSocket(server.baseUrl);
  const unused = [idle, halfway].map(
    (socket) =>
      new Promise<unknown>((resolve) => {
        socket
          .on('error', () => undefined)
          .once('end', resolve)
          .once('close', resolve)
          .resume();
      }),
  );
  halfway.write('GET /health/live HTTP/1.1\r\nHo');
  reader.write(`GET ${experiment}/data?tableName=numbers HTTP/1.1\r\n${headers}\r\n`);
  const chunks: Buffer[] = [];
  await once(reader, 'readable');
  const gone = once(server.child, 'exit');
  server.child.kill('SIGTERM');
  await Promise.all(unused);
  for (const socket of [idle, halfway]) socket.destroy();
  expect(server.child.exitCode).toBeNull();
  reader.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(reader, 'end');
  reader.destroy();
  const bytes = Buffer.concat(chunks);
  expect(bytes.toString('latin1', 0, 15)).toBe('HTTP/1.1 200 OK');
  expect(bytes.subarray(-40).toString('latin1')).toContain('X-Truncated: false');
  const start = performance.now();
  await gone;
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(server.child.exitCode).toBe(0);
});
