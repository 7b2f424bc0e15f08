import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import pg from 'pg';
import { open } from '../../src/auth/seal.ts';
import { readConfig } from '../../src/config.ts';
import { Browser, signIn } from '../support/browser.ts';
import { lettersTo } from '../support/outbox.ts';
import { sharedSite, spawnServer } from '../support/process.ts';

const ADDRESS = 'Nora.Vergessen@Example.com';
const address = ADDRESS.toLowerCase();

let shared: Awaited<ReturnType<typeof sharedSite>>;
let client: pg.Client;
beforeAll(async () => {
  shared = await sharedSite();
  client = new pg.Client({ connectionString: shared.database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await shared.remove();
});

/** Every column of every table with a value that holds the address: as text in any case, or as bytes. */
async function columnsHolding(): Promise<string[]> {
  const spelled = [address, Buffer.from(address).toString('hex'), Buffer.from(address).toString('base64').replace(/=+$/, '')];
  const { rows: columns } = await client.query<{ table: string; column: string }>(`
    select format('%I.%I', c.table_schema, c.table_name) as table, c.column_name as column
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where t.table_type = 'BASE TABLE' and c.table_schema not in ('pg_catalog', 'information_schema')`);
  const found: string[] = [];
  for (const { table, column } of columns) {
    const { rows } = await client.query(
      `select 1 from ${table} where exists (select from unnest($1::text[]) s where position(lower(s) in lower("${column}"::text)) > 0) limit 1`,
      [spelled],
    );
    if (rows.length > 0) found.push(`${table}.${column}`);
  }
  return found.sort();
}

/** To whom the letters in the queue are, opened with the key that is not in the database. */
async function queuedTo(): Promise<string[]> {
  const { secret } = readConfig({ ...shared.environment, PORT: '0' });
  const { rows } = await client.query<{ sealed: string }>("select data ->> 'sealed' as sealed from pgboss.job where name = 'mail.send'");
  return rows.map(({ sealed }) => (open(secret, 'letter', sealed) as { to: string }).to);
}

const outboxTo = (whom: string) => lettersTo({ dataDir: shared.folder }, whom);

test('the address of a closed account is nowhere: not in Postgres, not in a letter that waits, not in a log', async () => {
  const settings = { ...shared.environment, LOG_LEVEL: 'debug', SIGN_INS_PER_MINUTE: '1000' };
  const first = await spawnServer(settings);
  const at = (baseUrl: string) => ({ server: { baseUrl }, dataDir: shared.folder }) as Parameters<typeof signIn>[0];
  const ok = async (browser: Browser, path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await browser.call('POST', path, body, headers);
    expect([path, answer.status, answer.text]).toEqual([path, expect.toSatisfy((status: number) => status < 300), expect.anything()]);
    return answer.body;
  };
  const nora = await signIn(at(first.baseUrl), ADDRESS);
  const lena = await signIn(at(first.baseUrl), 'lena@example.com');
  for (const [browser, firstName] of [
    [nora, 'Nora'],
    [lena, 'Lena'],
  ] as const)
    await ok(browser, '/api/v1/users/profile', { firstName, lastName: 'Tester' });
  const { user } = (await nora.call('GET', '/api/v1/auth/get-session')).body as { user: { id: string } };
  const lab = await ok(lena, '/api/v1/auth/organization/create', { name: 'Lab', slug: 'lab' });
  const experiment = await ok(lena, '/api/v1/experiments', { name: 'Theirs', organizationId: lab.id });
  await client.query("update organizations set visibility = 'public' where id = $1", [lab.id]);
  // every way in which an address comes to be written down
  await ok(nora, `/api/v1/organizations/${lab.id}/join-requests`, { message: `Write to ${ADDRESS}` });
  await ok(nora, '/api/v1/transfer-requests', { projectIdOld: '1', projectUrlOld: 'https://photosynq.org/projects/1' });
  await ok(nora, '/api/v1/newsletter/subscribe', { email: ADDRESS });
  await ok(nora, '/api/v1/auth/email-otp/send-verification-otp', { email: ADDRESS, type: 'sign-in' });
  await ok(nora, '/api/v1/experiments', { name: 'Mine', description: 'x' }, { 'idempotency-key': 'mine' });
  // in another's kept answers: as a value, and once the person is known by it
  const headers = { 'idempotency-key': 'share' };
  await ok(lena, `/api/v1/experiment/${experiment.id}/collaborators`, { granteeType: 'user', granteeId: user.id, role: 'viewer' }, headers);
  const invited = { organizationId: lab.id, email: ADDRESS, role: 'member' };
  await ok(lena, '/api/v1/auth/organization/invite-member', invited, { 'idempotency-key': 'invite' });
  await ok(lena, '/api/v1/invitations', { resourceType: 'platform', email: 'elsewhere@example.com' });
  await lena.call('GET', `/api/v1/users/search?query=${encodeURIComponent(ADDRESS)}`);
  await lena.call('GET', `/api/v1/nowhere/${ADDRESS}`);
  await expect.poll(() => outboxTo(address).length).toBeGreaterThanOrEqual(4);
  await expect.poll(() => outboxTo('lena@example.com').length).toBeGreaterThan(0);
  await expect.poll(() => first.output()).toContain('/api/v1/users/search');
  const firstLog = first.output();
  await first.kill('SIGKILL');

  // letters wait while the mail server is away
  const second = await spawnServer({ ...settings, SMTP_URL: 'smtp://127.0.0.1:9' });
  const move = (browser: Browser) => Object.assign(new Browser(second.baseUrl), { cookies: browser.cookies });
  const [her, their] = [move(nora), move(lena)];
  await ok(her, '/api/v1/transfer-requests', { projectIdOld: '2', projectUrlOld: 'https://photosynq.org/projects/2' });
  await ok(their, '/api/v1/transfer-requests', { projectIdOld: '3', projectUrlOld: 'https://photosynq.org/projects/3' });
  expect(await queuedTo()).toEqual(expect.arrayContaining([address, 'lena@example.com']));
  expect(await columnsHolding()).toEqual(
    expect.arrayContaining([
      'public.idempotency_keys.body',
      'public.newsletter_subscribers.email',
      'public.organization_invitations.email',
      'public.organization_join_requests.message',
      'public.project_transfer_requests.user_email',
      'public.sign_in_codes.address',
      'public.users.email',
    ]),
  );
  await second.kill('SIGKILL');

  // where the service keeps its letters itself, those go too
  const third = await spawnServer(settings);
  const herLast = Object.assign(new Browser(third.baseUrl), { cookies: nora.cookies });
  const closed = await herLast.call('DELETE', `/api/v1/users/${user.id}?deleteOwned=true`);
  expect([closed.status, closed.text]).toEqual([200, 'null']);
  expect(await columnsHolding()).toEqual([]);
  expect(await queuedTo()).not.toContain(address);
  expect(await queuedTo()).toContain('lena@example.com');
  await expect.poll(() => outboxTo(address)).toEqual([]);
  expect(outboxTo('lena@example.com')).not.toEqual([]);
  for (const log of [firstLog, second.output(), third.output()]) expect(log.toLowerCase()).not.toContain('vergessen');
  await third.kill('SIGKILL');
  for (const name of readdirSync(shared.folder, { recursive: true, withFileTypes: true }))
    if (name.isFile() && name.name.endsWith('.log'))
      expect(readFileSync(join(name.parentPath, name.name), 'utf8').toLowerCase()).not.toContain('vergessen');
});
