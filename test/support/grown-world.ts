/** A person's surroundings in which every list of the API has a member, or a hundred. */
import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { createApiKey } from '../../src/api/credentials/credentials.service.ts';
import { startSession } from '../../src/auth/sessions.ts';
import { sql } from '../../src/database/sql.ts';
import { makePerson } from './cast.ts';
import { makeOrganization } from './resources.ts';
import type { TestServer } from './server.ts';
import { uploadTable } from './uploads.ts';

export interface GrownWorld {
  site: TestServer;
  /** A session of the cast's owner, as a cookie. */
  cookie: string;
  /** Of the things whose lists grow. */
  experiment: string;
  macro: string;
  protocol: string;
  device: string;
  thing: string;
  group: string;
  workbook: string;
  visualization: string;
  team: string;
  webhook: string;
  /** Another organization, which people ask to join. */
  open: string;
  /** A table of one row, or of a hundred, and the upload that brought it. */
  table: string;
  upload: string;
  serial: number;
}

const FROM = '2026-05-01T00:00:00Z';
const csv = (rows: number) => ['n,name', ...Array.from({ length: rows }, (_, n) => `${n},name ${n}`)].join('\n');

async function make(world: Pick<GrownWorld, 'site'>, path: string, body: object): Promise<{ id: string; thingName: string }> {
  const { site } = world;
  const answer = await site.as(site.cast.owner)('POST', `/api/v1/${path}`, { body });
  if (answer.status !== 201) throw new Error(`${path} was answered ${answer.status} ${answer.text}`);
  return answer.body as { id: string; thingName: string };
}

/** Points the world at a table of so many rows, brought by an upload of its own, and a chart of it. */
async function bringTable(world: GrownWorld, rows: number): Promise<void> {
  const { site, experiment } = world;
  const name = `rows_${rows}`;
  world.table = await uploadTable(site.as(site.cast.owner), experiment, name, csv(rows));
  const source = (role: string, columnName: string) => ({ tableName: name, columnName, role });
  const dataConfig = { tableName: name, dataSources: [source('x', 'n'), source('y', 'n'), source('color', 'name')] };
  const body = { name: `Grown ${rows}`, chartFamily: 'basic', chartType: 'scatter', dataConfig };
  world.visualization = (await make(world, `experiments/${experiment}/visualizations`, body)).id;
  const row = await site.db.one<{ id: string }>(sql('grown')`select id from uploads where table_id = ${world.table}`);
  world.upload = row?.id ?? '';
}

export async function makeGrownWorld(site: TestServer): Promise<GrownWorld> {
  const { owner, leafLab: organizationId } = site.cast;
  const at = { site };
  const { token } = await startSession(site.db, { userId: owner.id, method: 'email', ipAddress: null, userAgent: null });
  const device = await make(at, 'devices', { serialNumber: 'grown', deviceType: 'multispeq', organizationId });
  const world: GrownWorld = {
    site,
    cookie: `fieldlake.session_token=${token}`,
    experiment: (await make(at, 'experiments', { name: 'Grown', organizationId })).id,
    macro: (await make(at, 'macros', { name: 'Grown', code: '1', language: 'python', organizationId })).id,
    protocol: (await make(at, 'protocols', { name: 'Grown', code: [1], family: 'generic', organizationId })).id,
    device: device.id,
    thing: device.thingName,
    group: (await make(at, 'device-groups', { name: 'Grown', organizationId })).id,
    workbook: (await make(at, 'workbooks', { name: 'Grown', organizationId })).id,
    visualization: '',
    team: randomUUIDv7(),
    webhook: randomUUIDv7(),
    open: await makeOrganization(site.db, { name: 'Open', slug: 'grown-open', members: { [owner.id]: 'owner' } }),
    table: '',
    upload: '',
    serial: 0,
  };
  await site.db.run(sql('grown')`insert into teams (id, organization_id, name) values (${world.team}, ${organizationId}, 'Grown')`);
  await site.db.run(sql('grown')`insert into webhook_endpoints (id, organization_id, url, kinds, secret)
    values (${world.webhook}, ${organizationId}, 'https://example.org/', '{experiment.created}', 'sealed')`);
  await grow(world, 1);
  return world;
}

/** Members that are asked for at once. */
const AT_ONCE = 6;

/** Asks for one more member of the lists that grow by requests. */
async function askForMember(world: GrownWorld, serial: number) {
  const { site, experiment } = world;
  const { db, cast } = site;
  const { leafLab: organizationId, owner } = cast;
  const name = `Grown ${serial}`;
  const slug = `grown-${serial}`;
  const person = await makePerson(db, slug);
  const theirs = await makeOrganization(db, { name, slug, members: { [owner.id]: 'owner' } });
  await createApiKey(db, { userId: owner.id, name });
  await startSession(db, { userId: owner.id, method: 'email', ipAddress: null, userAgent: null });
  const made = {
    experiment: (await make(world, 'experiments', { name, organizationId })).id,
    macro: (await make(world, 'macros', { name, code: '1', language: 'python', organizationId })).id,
    protocol: (await make(world, 'protocols', { name, code: [1], family: 'generic', organizationId })).id,
    device: await make(world, 'devices', { serialNumber: slug, deviceType: 'multispeq', organizationId }),
    team: randomUUIDv7(),
  };
  await make(world, 'workbooks', { name, organizationId });
  await make(world, 'device-groups', { name, organizationId });
  await make(world, `experiments/${experiment}/dashboards`, { name });
  await make(world, `experiments/${experiment}/visualizations`, {
    name,
    chartFamily: 'basic',
    chartType: 'line',
    dataConfig: { tableName: 'raw_data', dataSources: [{ tableName: 'raw_data', columnName: 'timestamp', role: 'x' }] },
  });
  await make(world, `experiments/${experiment}/locations`, { locations: [{ name, latitude: 1, longitude: 1 }] });
  const metadata = {
    name,
    columns: [{ id: 'c', name: 'plot', type: 'string' }],
    rows: [],
    identifierColumnId: 'c',
    experimentQuestionId: slug,
  };
  await make(world, `experiments/${experiment}/metadata`, { metadata });
  return { ...made, serial, name, slug, person, theirs };
}

/** Writes one more member of the lists that no request makes longer. */
async function writeMember(world: GrownWorld, made: Awaited<ReturnType<typeof askForMember>>): Promise<void> {
  const { site, experiment, macro, protocol, device, group, team } = world;
  const { leafLab: organizationId, owner } = site.cast;
  const { serial, name, slug, person, theirs } = made;
  const hour = new Date(Date.parse(FROM) + serial * 3_600_000);
  const { thingName } = made.device;
  const email = `${slug}@elsewhere.example`;
  await site.db.transaction(async (tx) => {
    for (const statement of [
      sql(
        'grown',
      )`insert into organization_members (id, organization_id, user_id, role) values (${randomUUID()}, ${organizationId}, ${person.id}, 'member')`,
      sql('grown')`insert into teams (id, organization_id, name) values (${made.team}, ${organizationId}, ${name})`,
      sql('grown')`insert into team_members (id, team_id, organization_id, user_id) values
        (${randomUUID()}, ${team}, ${organizationId}, ${person.id}), (${randomUUID()}, ${made.team}, ${organizationId}, ${owner.id})`,
      sql('grown')`insert into grants (id, resource_id, resource_type, user_id, team_id, role) values
        (${randomUUID()}, ${macro}, 'macro', ${person.id}, null, 'viewer'),
        (${randomUUID()}, ${experiment}, 'experiment', ${person.id}, null, 'viewer'), (${randomUUID()}, ${macro}, 'macro', null, ${made.team}, 'viewer')`,
      sql('grown')`insert into organization_invitations (id, organization_id, email, role, inviter_id, expires_at) values
        (${randomUUID()}, ${organizationId}, ${email}, 'member', ${owner.id}, now() + interval '1 day'),
        (${randomUUID()}, ${theirs}, 'owner@example.com', 'member', ${owner.id}, now() + interval '1 day')`,
      sql('grown')`insert into invitations (id, resource_type, resource_id, email, invited_by, expires_at)
        values (${randomUUID()}, 'macro', ${macro}, ${email}, ${owner.id}, now() + interval '1 day')`,
      sql('grown')`insert into experiment_join_requests (id, experiment_id, user_id) values (${randomUUID()}, ${experiment}, ${person.id})`,
      sql(
        'grown',
      )`insert into organization_join_requests (id, organization_id, user_id) values (${randomUUID()}, ${world.open}, ${person.id})`,
      sql('grown')`insert into passkeys (id, user_id, credential_id, public_key, counter, device_type, backed_up)
        values (${randomUUID()}, ${owner.id}, ${slug}, '\\x00', 0, 'singleDevice', false)`,
      sql('grown')`insert into macro_protocols (macro_id, protocol_id) values (${macro}, ${made.protocol}), (${made.macro}, ${protocol})`,
      sql(
        'grown',
      )`insert into experiment_devices (experiment_id, device_id) values (${experiment}, ${made.device.id}), (${made.experiment}, ${device})`,
      sql('grown')`insert into device_group_members (group_id, device_id) values (${group}, ${made.device.id})`,
      sql('grown')`insert into contributors (experiment_id, user_id) values (${experiment}, ${person.id})`,
      sql('grown')`insert into exports (id, experiment_id, table_identifier, table_name, table_version, format, names, created_by)
        values (${randomUUID()}, ${experiment}, 'raw_data', 'raw_data', 1, 'csv', 'real', ${owner.id})`,
      sql('grown')`insert into uploads (id, experiment_id, source_kind, status, created_by, completed_at)
        values (${randomUUID()}, ${experiment}, 'csv', 'failed', ${owner.id}, now())`,
      sql('grown')`insert into code_versions (resource_id, version, code, kind, created_by)
        select v.resource_id, max(v.version) + 1, '1', min(v.kind), ${owner.id} from code_versions v
        where v.resource_id in (${macro}, ${protocol}) group by v.resource_id`,
      sql('grown')`insert into macro_reprocesses (id, experiment_id, macro_id, code_version, status, completed_at)
        values (${randomUUID()}, ${experiment}, ${macro}, 1, 'completed', now())`,
      sql('grown')`insert into webhook_endpoints (id, organization_id, url, kinds, secret)
        values (${randomUUID()}, ${organizationId}, 'https://example.org/', '{experiment.created}', 'sealed')`,
      sql(
        'grown',
      )`insert into webhook_messages (id, endpoint_id, kind, payload) values (${randomUUIDv7()}, ${world.webhook}, 'experiment.created', '{}')`,
      sql('grown')`insert into project_transfer_requests (id, user_id, user_email, source_platform, project_id_old, project_url_old)
        values (${randomUUID()}, ${owner.id}, 'owner@example.com', 'photosynq', ${slug}, 'https://example.org/')`,
      sql('grown')`insert into workbook_versions (id, workbook_id, version, cells, metadata, design_digest, entity_snapshots, created_by)
        values (${randomUUID()}, ${world.workbook}, ${serial}, '[]', '{}', '\\x00', '{}', ${owner.id})`,
      sql('grown')`insert into audit_events (id, actor_id, action, organization_id, subject_id)
        values (${randomUUIDv7()}, ${owner.id}, 'organization.updated', ${organizationId}, ${owner.id})`,
      sql('grown')`insert into presence_events (id, thing_name, event_type, at, session) values
        (${randomUUID()}, ${world.thing}, 'connected', ${hour}, ${slug}), (${randomUUID()}, ${thingName}, 'connected', ${hour}, ${slug})`,
      ...[world.thing, thingName].flatMap((client) => [
        sql(
          'grown',
        )`insert into message_hours (client_id, experiment_id, hour, version, protocol_id, workbook_version_id, macros, count, with_gps,
          with_battery, battery_sum, battery_count, first_at, last_at)
          values (${client}, ${made.experiment}, ${hour}, ${slug}, '', '', '', 1, 0, 1, 50, 1, ${hour}, ${hour})`,
        sql(
          'grown',
        )`insert into message_days (client_id, day, experiment_id, count) values (${client}, date_trunc('day', ${hour}::timestamptz), ${made.experiment}, 1)`,
      ]),
    ])
      await tx.run(statement);
  });
}

/** So many more members of every list; a list of rows is another table from then on, of as many as the other lists have. */
export async function grow(world: GrownWorld, count: number): Promise<void> {
  const { site, experiment } = world;
  const waiting = Array.from({ length: count }, () => (world.serial += 1));
  const asked: Awaited<ReturnType<typeof askForMember>>[] = [];
  const ask = async () => {
    for (let serial = waiting.shift(); serial !== undefined; serial = waiting.shift()) asked.push(await askForMember(world, serial));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  for (const made of asked) await writeMember(world, made);
  // a table takes half a second, so that there are a few of them
  const more = Array.from({ length: Math.min(10, count - 1) }, (_, n) => `more_${n}`);
  await Promise.all(more.map((name) => uploadTable(site.as(site.cast.owner), experiment, name, csv(1))));
  await bringTable(world, world.serial);
}
