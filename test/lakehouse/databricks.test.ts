import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BIGINT } from '../../src/lakehouse/terms/catalog.ts';
import type { Statement } from '../../src/lakehouse/terms/warehouse.ts';
import { DatabricksWarehouse } from '../../src/lakehouse/engines/databricks/warehouse.ts';
import type { DatabricksOptions } from '../../src/lakehouse/engines/databricks/client.ts';
import { makeProblemDocument } from '../../src/http/answers/errors.ts';
import { ApiError } from '../../src/errors.ts';
import type { Fault, Method } from '../support/thrift-server.ts';
import { abortMany, settled as settledAt } from './databricks-aborts.ts';
import { DatabricksLake, addressOf } from './databricks-lake.ts';
import { layBench, put } from './oracle/bench.ts';
import type { Bench } from './oracle/bench.ts';
import { random } from './oracle/data.ts';
import { makeRequest } from './oracle/generate.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);

let lake: DatabricksLake;
let bench: Bench;
beforeAll(async () => {
  console.log(`oracle: FC_SEED=${seed}`);
  lake = await DatabricksLake.open();
  bench = await layBench(lake, seed, 300);
});
afterAll(() => lake.close());

const one: Statement = { sql: 'select cast(1 as INT) as one', values: [] };
const numbers = (most: number): Statement => ({ sql: `select cast(i as STRING) as line from range(${most}) as t(i)`, values: [] });
const endless: Statement = {
  sql: 'select cast(sum(a.i * b.i) as STRING) as line from range(10000000) as a(i), range(10000000) as b(i)',
  values: [],
};

const settled = (warehouse = lake.warehouse) => settledAt(lake, () => warehouse.running);

const openAnother = (options: Partial<DatabricksOptions> = {}) => DatabricksWarehouse.open({ ...addressOf(lake.server), ...options });
const failureOf = (work: Promise<unknown>): Promise<ApiError> =>
  work.then(
    () => Promise.reject(new Error('It succeeded.')),
    (error: unknown) => (error instanceof ApiError ? error : Promise.reject(error as Error)),
  );

test('generated requests are answered as the oracle answers them', async () => {
  const r = random(seed);
  for (let index = 0; index < 60; index += 1) {
    const asked = makeRequest(index, bench.rows, r);
    const found = await put(lake.warehouse, bench, asked, index % 4 === 3);
    expect(found, `FC_SEED=${seed}, request ${index}: ${JSON.stringify(asked)}`).toBeNull();
  }
  expect(await settled()).toEqual([0, 0, 0]);
});

describe('what goes over the wire', () => {
  test('values are bound, never in the text, and the request is named', async () => {
    const secret = `x' or 1=1 -- \\`;
    const value = lake.warehouse.dialect.value(secret, { kind: 'string' });
    const from = lake.server.statements.length;
    const [row] = await lake.warehouse.rows({ sql: `select ${value.text} as v`, values: value.values }, { tag: 'request:1,2' });
    expect(row).toEqual({ v: secret });
    const [sent] = lake.server.statements.slice(from);
    expect(sent?.sql).toBe('select cast(? as STRING) as v');
    expect(sent?.parameters).toEqual([{ type: 'STRING', value: secret }]);
    expect(sent?.overlay).toEqual({ query_tags: 'request:request\\:1\\,2' });
    expect(lake.server.sessionsOpened[0]).toMatchObject({
      catalog: 'field',
      configuration: { TIMEZONE: 'UTC', ANSI_MODE: 'true', STATEMENT_TIMEOUT: '3600', QUERY_TAGS: 'application:fieldlake' },
    });
  });

  test('nothing but statements is sent: no telemetry, no feature flags', async () => {
    await lake.warehouse.rows(one);
    expect(lake.server.otherRequests).toEqual([]);
  });

  test('a service principal is asked for a token once, and its secret stays here', async () => {
    lake.server.principals = { 'client:s%3Aecret': 'oauth-token' };
    lake.server.accepted.add('oauth-token');
    const warehouse = await openAnother({ credentials: { clientId: 'client', clientSecret: 's:ecret' } });
    await Promise.all([warehouse.rows(one), warehouse.rows(one), warehouse.rows(one)]);
    expect(lake.server.statements.at(-1)?.authorization).toBe('Bearer oauth-token');
    expect(lake.server.tokenRequests.map(({ form }) => form)).toEqual(['grant_type=client_credentials&scope=all-apis']);
    await warehouse.close();
    for (const credentials of [{ clientId: 'client', clientSecret: 'wrong-secret' }, { token: 'wrong-token' }]) {
      const refused = await openAnother({ credentials });
      const error = await failureOf(refused.rows(one));
      expect([error.code, error.status]).toEqual(['WAREHOUSE_REFUSED', 500]);
      expect(JSON.stringify([error, error.details.cause, String(error.details.cause)])).not.toContain('wrong-secret');
      await refused.close();
    }
  });

  test('a token that cannot be had now is asked for again by the next statement', async () => {
    lake.server.principals = { 'client:secret': 'later-token' };
    lake.server.accepted.add('later-token');
    const warehouse = await openAnother({ credentials: { clientId: 'client', clientSecret: 'secret' } });
    lake.server.tokenStatus = 503;
    const error = await failureOf(warehouse.rows(one));
    expect([error.code, error.status]).toEqual(['WAREHOUSE_UNAVAILABLE', 503]);
    lake.server.tokenStatus = undefined;
    expect(await warehouse.rows(one)).toEqual([{ one: 1 }]);
    await warehouse.close();
  });

  test('a server whose certificate is not trusted is told nothing', async () => {
    const calls = lake.server.calls.length;
    const warehouse = await openAnother({ authority: undefined });
    expect((await failureOf(warehouse.rows(one))).code).toBe('WAREHOUSE_REFUSED');
    expect(lake.server.calls.length).toBe(calls);
    await warehouse.close();
  });

  test('a page is asked for when the reader has room, and not before', async () => {
    const before = lake.server.count('FetchResults');
    const stream = await lake.warehouse.stream(numbers(2_000_000), 'json');
    await new Promise((resolve) => stream.once('readable', resolve));
    await sleep(300);
    expect(lake.server.count('FetchResults') - before).toBeLessThanOrEqual(4);
    stream.destroy();
    expect(await settled()).toEqual([0, 0, 0]);
  });
});

describe('sessions', () => {
  test('a dead session is opened once more, and the statement is answered', async () => {
    await lake.warehouse.rows(one);
    await lake.server.expireSessions();
    const [opened, executed] = [lake.server.count('OpenSession'), lake.server.count('ExecuteStatement')];
    expect(await lake.warehouse.rows(one)).toEqual([{ one: 1 }]);
    expect([lake.server.count('OpenSession') - opened, lake.server.count('ExecuteStatement') - executed]).toEqual([1, 2]);
  });

  test('a night kills every session of the pool, and every caller is answered', async () => {
    const ask = () => Promise.all(Array.from({ length: 6 }, () => lake.warehouse.rows(one)));
    await ask();
    await lake.server.expireSessions();
    expect(await ask()).toEqual(Array.from({ length: 6 }, () => [{ one: 1 }]));
  });

  test('a session that was in use while its like died is not used again', async () => {
    const warehouse = await openAnother({ statements: 2 });
    await Promise.all([warehouse.rows(one), warehouse.rows(one)]);
    await settled(warehouse);
    // the first statement is heard to end before the dead session of the second is, so the second is sent again in the first one's place
    lake.server.inject({ method: 'CloseOperation', how: { kind: 'late', ms: 300 } });
    const closed = lake.server.count('CloseOperation');
    await warehouse.rows(one);
    await expect.poll(() => lake.server.count('CloseOperation')).toBe(closed + 1);
    await lake.server.expireSessions();
    lake.server.inject({ method: 'CloseSession', how: { kind: 'late', ms: 1_000 } });
    expect(await warehouse.rows(one)).toEqual([{ one: 1 }]);
    expect(lake.server.pendingFaults).toBe(0);
    await warehouse.close();
  });

  test('no more statements at once than allowed, and sessions that lie about are closed', async () => {
    const warehouse = await openAnother({ statements: 2, idleMs: 1_000 });
    const sessions = lake.server.count('OpenSession');
    lake.server.inject({ method: 'ExecuteStatement', times: 6, how: { kind: 'slow', ms: 30 } });
    await Promise.all(Array.from({ length: 6 }, () => warehouse.rows(one)));
    expect(lake.server.count('OpenSession') - sessions).toBe(2);
    const closed = lake.server.count('CloseSession');
    await sleep(1_100);
    await warehouse.rows(one);
    await settled(warehouse);
    expect(lake.server.count('CloseSession') - closed).toBe(2);
    await warehouse.close();
  });

  test('whoever waits for a place can leave, and is refused at the end', async () => {
    const warehouse = await openAnother({ statements: 1 });
    const first = warehouse.rows(endless).catch((error: unknown) => error);
    const waiting = warehouse.rows(one, { timeoutMs: 50 });
    await expect(waiting).rejects.toMatchObject({ code: 'WAREHOUSE_TIMEOUT' });
    const refused = warehouse.rows(one);
    const [, , , ended] = await Promise.all([
      expect(refused).rejects.toMatchObject({ code: 'SHUTTING_DOWN' }),
      sleep(100).then(() => lake.server.expireSessions()),
      warehouse.close(),
      first,
    ]);
    expect(ended).toBeInstanceOf(ApiError);
    await expect(warehouse.rows(one)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

describe('a stopped warehouse', () => {
  test.each(['http', 'status'] as const)('is waited for, as it says by %s', async (how) => {
    await lake.server.stopFor(200, how);
    expect(await lake.warehouse.rows(one, { timeoutMs: 10_000 })).toEqual([{ one: 1 }]);
    await settled();
  });

  test('is not waited for longer than the caller does, who is told so', async () => {
    await lake.server.stopFor(60_000, 'status');
    const error = await failureOf(lake.warehouse.rows(one, { timeoutMs: 2_000 }));
    expect([error.code, error.status, error.details.retryAfter]).toEqual(['WAREHOUSE_STARTING', 503, 30]);
    const impatient = await openAnother({ startMs: 100 });
    expect((await failureOf(impatient.rows(one))).code).toBe('WAREHOUSE_STARTING');
    await impatient.close();
    await lake.server.stopFor(0, 'status');
    expect(await lake.warehouse.rows(one)).toEqual([{ one: 1 }]);
  });
});

describe('broken answers', () => {
  const all = Array.from({ length: 12_000 }, (_, index) => `${index}\n`).join('');
  const streamed = async () => text(await lake.warehouse.stream(numbers(12_000), 'json'));

  test('what breaks before the first row is asked again, and no row comes twice', async () => {
    expect(await streamed()).toBe(all);
    for (const method of ['OpenSession', 'ExecuteStatement', 'GetOperationStatus', 'GetResultSetMetadata', 'FetchResults'] as const) {
      if (method === 'OpenSession') await lake.server.expireSessions();
      lake.server.inject({ method, how: { kind: 'cut' } });
      expect(await streamed(), method).toBe(all);
      expect(lake.server.pendingFaults, method).toBe(0);
      expect(await settled(), method).toEqual([0, 0, 0]);
    }
  });

  test('what breaks after that ends the stream, and is never asked again', async () => {
    const faults: Fault['how'][] = [
      { kind: 'cut' },
      { kind: 'torn' },
      { kind: 'status', message: 'Invalid SessionHandle: SessionHandle [x]' },
    ];
    for (const how of faults) {
      const executed = lake.server.count('ExecuteStatement');
      lake.server.inject({ method: 'FetchResults', after: 2, how });
      await expect(streamed(), how.kind).rejects.toBeInstanceOf(Error);
      expect(lake.server.count('ExecuteStatement') - executed).toBe(1);
      expect(await settled()).toEqual([0, 0, 0]);
    }
  });

  test('a batch that is not whole is never taken for the end', async () => {
    lake.server.inject({ method: 'FetchResults', times: 5, how: { kind: 'torn' } });
    await expect(streamed()).rejects.toBeInstanceOf(Error);
    lake.server.clearFaults();
    expect(await settled()).toEqual([0, 0, 0]);
  });

  test('slow answers do not outlast a deadline', async () => {
    for (const method of ['ExecuteStatement', 'GetOperationStatus', 'FetchResults'] as const) {
      lake.server.inject({ method, how: { kind: 'slow', ms: 3_000 } });
      const from = performance.now();
      await expect(lake.warehouse.rows(one, { timeoutMs: 100 }), method).rejects.toMatchObject({ code: 'WAREHOUSE_TIMEOUT' });
      expect(performance.now() - from).toBeLessThan(2_900);
      expect(await settled(), method).toEqual([0, 0, 0]);
    }
  });

  test('a table that is not there is told from other failures of a statement', async () => {
    const said = async (message: string) => {
      const codes = [];
      for (const method of ['ExecuteStatement', 'GetOperationStatus'] as const) {
        lake.server.inject({ method, times: 1, how: { kind: 'status', message } });
        codes.push((await failureOf(lake.warehouse.rows(one))).code);
      }
      return [...new Set(codes)];
    };
    const words = '[TABLE_OR_VIEW_NOT_FOUND] The table or view `gold`.`upload` cannot be found. SQLSTATE: 42P01';
    expect(await said(words)).toEqual(['WAREHOUSE_TABLE_MISSING']);
    expect(await said(`org.apache.hive.service.cli.HiveSQLException: Error running query: ${words}`)).toEqual(['WAREHOUSE_TABLE_MISSING']);
    expect(await said('[ARITHMETIC_OVERFLOW] Overflow in sum of decimals. SQLSTATE: 22003')).toEqual(['SUM_TOO_LARGE']);
    expect(await said('[DIVIDE_BY_ZERO] Division by zero.')).toEqual(['INTERNAL']);
    // a name that a caller chose
    expect(await said('[UNRESOLVED_COLUMN] A column `[ARITHMETIC_OVERFLOW]` cannot be resolved.')).toEqual(['INTERNAL']);
    expect(await said(`[UNRESOLVED_COLUMN] A column \`${words}\` cannot be resolved.`)).toEqual(['INTERNAL']);
    expect(await settled()).toEqual([0, 0, 0]);
  });

  test('no answer holds a word of the driver or the server', async () => {
    const words = 'org.apache.secret.Exception: table gold.hidden at 10.0.0.7';
    const methods: Method[] = ['OpenSession', 'ExecuteStatement', 'GetOperationStatus', 'GetResultSetMetadata', 'FetchResults'];
    const hows: Fault['how'][] = [
      { kind: 'status', message: words },
      { kind: 'http', status: 400, headers: { 'x-thriftserver-error-message': words } },
      { kind: 'http', status: 403, headers: { 'x-thriftserver-error-message': words } },
      { kind: 'http', status: 429 },
      { kind: 'http', status: 404 },
    ];
    // the driver pauses before it asks again: each method has a server of its own, and all pause at once
    await Promise.all(
      methods.map(async (method) => {
        const own = await DatabricksLake.open();
        for (const how of hows) {
          if (method === 'OpenSession') await own.server.expireSessions();
          own.server.inject({ method, times: how.kind === 'http' && how.status === 429 ? 4 : 1, how });
          const error = await failureOf(own.warehouse.rows(one));
          const body = JSON.stringify(makeProblemDocument(error, 'r'));
          if (how.kind === 'http' && how.status === 429)
            expect([error.code, error.details.retryAfter], method).toEqual(['WAREHOUSE_BUSY', 5]);
          expect(body, method).not.toMatch(/secret|hidden|10\.0|hive|thrift|driver|session|status code/i);
          own.server.clearFaults();
        }
        expect(await settledAt(own), method).toEqual([0, 0, 0]);
        await own.close();
      }),
    );
    const wrong = await failureOf(lake.warehouse.rows({ sql: 'select nonsense from nowhere', values: [] }));
    expect([wrong.code, wrong.message]).toEqual([
      'INTERNAL',
      'Something went wrong on our side. Whoever runs the service finds it in the log by the request id.',
    ]);
    expect((wrong.details.cause as Error).message).toContain('nowhere');
    expect(await settled()).toEqual([0, 0, 0]);
  });
});

test('aborted requests leave no operation behind', async () => {
  // of sessions whose answer was cut only the server knows
  await lake.server.expireSessions();
  await Promise.all(Array.from({ length: 8 }, () => lake.warehouse.rows(one)));
  const { gone, sent, cancelled } = await abortMany(lake, 50);
  expect(await settled()).toEqual([0, 0, 0]);
  expect(gone).toBe(50);
  expect(sent).toBeGreaterThan(3);
  expect(cancelled).toBe(sent);
  expect(lake.server.sessions).toBeLessThanOrEqual(8);
  const counted = { sql: 'select count(*) as n from (select i from range(20) as t(i) limit ?)', values: [{ value: 7n, type: BIGINT }] };
  expect(await lake.warehouse.rows(counted)).toEqual([{ n: '7' }]);
});
