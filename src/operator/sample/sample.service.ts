import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashToken } from '../../auth/seal.ts';
import type { Context } from '../../context.ts';
import { createUser, findUserByEmail } from '../../api/account/account.service.ts';
import { createApiKey } from '../../api/credentials/credentials.service.ts';
import { readJson } from '../../json.ts';
import { openClient, sendTable, type SampleClient } from './client.ts';
import { printSampleCsv } from './measurements.ts';
import {
  findSampleExperiment,
  isLiveKey,
  upsertGrant,
  upsertMember,
  upsertOrganization,
  upsertTeam,
  upsertTeamMember,
} from './sample.queries.ts';

const CAST = ['owner', 'member', 'teammate', 'viewer', 'stranger'] as const;
type CastName = (typeof CAST)[number];

interface CastMember {
  id: string;
  apiKey: string;
}

/** What `quickstart.json` holds, and the start prints. */
export interface Quickstart {
  baseUrl: string;
  adminUrl: string;
  /** The owner's. */
  apiKey: string;
  experimentId: string;
  uploadTableId: string;
  organizationId: string;
  users: Record<CastName, CastMember>;
}

/** Slug of the second organization. */
export const PARTNERS = 'field-partners';
const EXPERIMENT = 'Maize under drought';
const RATE_LIMIT = 10_000;
const INGEST_TRIES = 600;

const fileOf = (dataDir: string) => join(dataDir, 'quickstart.json');

/** Reads what the last start with the sample wrote down; undefined when there is none. */
export function readQuickstart(dataDir: string): Quickstart | undefined {
  try {
    return readJson(readFileSync(fileOf(dataDir), 'utf8')) as Quickstart;
  } catch {
    return undefined;
  }
}

async function castMember(ctx: Context, name: CastName, before: CastMember | undefined): Promise<CastMember> {
  const email = `${name}@leaf-lab.example`;
  const id =
    (await findUserByEmail(ctx.db, email)) ??
    (await createUser(ctx.db, { email, firstName: name.charAt(0).toUpperCase() + name.slice(1), lastName: 'Sample', verified: true })).id;
  if (before?.id === id && (await isLiveKey(ctx.db, hashToken(before.apiKey), id))) return before;
  const rateLimit = name === 'owner' ? RATE_LIMIT : 100;
  return { id, apiKey: (await createApiKey(ctx.db, { userId: id, name: 'quickstart', rateLimit })).key };
}

async function uploadMeasurements(client: SampleClient, experimentId: string): Promise<string> {
  const experiment = `/api/v1/experiments/${experimentId}`;
  const files = [{ path: 'leaf_measurements.csv', text: printSampleCsv() }];
  const { uploadId, uploadTableId } = await sendTable(client, experiment, { sourceKind: 'csv', targetName: 'leaf_measurements', files });
  for (let tries = 0; tries < INGEST_TRIES; tries += 1) {
    const { status } = await client.get<{ status: string }>(`${experiment}/data/uploads/${uploadId}`);
    if (status === 'completed') break;
    if (status === 'failed' || status === 'partial') throw new Error(`the sample's upload ended as ${status}`);
    await sleep(100);
  }
  return uploadTableId;
}

/** Where this process listens itself: the base URL may name a proxy that is not there yet. */
interface OwnUrls {
  localUrl: string;
  adminUrl: string;
}

/** Makes the cast, Leaf Lab and its private experiment where they are not there yet, and writes `quickstart.json`. */
export async function prepareSample(ctx: Context, { localUrl, adminUrl }: OwnUrls): Promise<Quickstart> {
  const before = readQuickstart(ctx.config.dataDir);
  const users = {} as Record<CastName, CastMember>;
  for (const name of CAST) users[name] = await castMember(ctx, name, before?.users[name]);
  const leafLab = (await upsertOrganization(ctx.db, { name: 'Leaf Lab', slug: 'leaf-lab' }))?.id ?? '';
  const partners = (await upsertOrganization(ctx.db, { name: 'Field Partners', slug: PARTNERS }))?.id ?? '';
  await upsertMember(ctx.db, { organizationId: leafLab, userId: users.owner.id, role: 'owner' });
  await upsertMember(ctx.db, { organizationId: leafLab, userId: users.member.id, role: 'member' });
  await upsertMember(ctx.db, { organizationId: partners, userId: users.teammate.id, role: 'owner' });
  const team = (await upsertTeam(ctx.db, { organizationId: partners, name: 'Field team' }))?.id ?? '';
  await upsertTeamMember(ctx.db, { teamId: team, organizationId: partners, userId: users.teammate.id });

  const found = await findSampleExperiment(ctx.db, leafLab, EXPERIMENT);
  const client = openClient(localUrl, users.owner.apiKey);
  const experimentId =
    found?.experimentId ??
    (
      await client.post<{ id: string }>('/api/v1/experiments', {
        name: EXPERIMENT,
        description: 'Twelve plots, half of them without water: one leaf of each a day by hand, and what instruments sent.',
        organizationId: leafLab,
        members: [{ userId: users.viewer.id }],
        locations: [{ name: 'Field 4', latitude: 51.9851, longitude: 5.6641, country: 'Netherlands', municipality: 'Wageningen' }],
      })
    ).id;
  await upsertGrant(ctx.db, { resourceId: experimentId, teamId: team, role: 'viewer' });
  const uploadTableId = found?.uploadTableId ?? (await uploadMeasurements(client, experimentId));
  const quickstart: Quickstart = {
    baseUrl: ctx.baseUrl,
    adminUrl,
    apiKey: users.owner.apiKey,
    experimentId,
    uploadTableId,
    organizationId: leafLab,
    users,
  };
  const staging = `${fileOf(ctx.config.dataDir)}.${process.pid}`;
  await writeFile(staging, `${JSON.stringify(quickstart, null, 2)}\n`, { mode: 0o600 });
  await rename(staging, fileOf(ctx.config.dataDir));
  return quickstart;
}

const json = (value: unknown) => JSON.stringify(value);

/** Prints lines to type. They work exactly as they stand, the first of them before the others. */
export function printQuickstart({ baseUrl, apiKey, experimentId, uploadTableId }: Quickstart): string {
  const data = `${baseUrl}/api/v1/experiments/${experimentId}/data`;
  const get = (path: string, parameters: Record<string, string>, more = '') =>
    [
      `curl -sSG '${path}' -H "x-api-key: $KEY"${more}`,
      ...Object.entries(parameters).map(([name, value]) => `--data-urlencode '${name}=${value}'`),
    ].join(' ');
  const table = { tableName: uploadTableId };
  const perWeek = {
    groupBy: [{ column: 'treatment' }, { column: 'measured_at', timeBucket: 'week' }],
    functions: [
      { column: 'spad', function: 'avg' },
      { column: '*', function: 'count' },
    ],
  };
  return `
# the key of the experiment's owner
KEY='${apiKey}'

# the average SPAD of each treatment by week
${get(data, { ...table, aggregation: json(perWeek) })}

# the ten lowest values of the drought plots
${get(data, { ...table, filters: json([{ column: 'treatment', operator: 'equals', value: 'drought' }]), orderBy: 'spad', page: '1', pageSize: '10' })}

# which genotypes there are
${get(`${data}/distinct`, { ...table, column: 'genotype' })}

# everything as CSV
${get(data, table, ` -H 'accept: text/csv'`)}

# add two rows of your own
printf 'plot,treatment,genotype,measured_at,spad\\n13,control,B73,2026-07-01T08:00:00Z,43.5\\n14,drought,B73,2026-07-01T08:05:00Z,31\\n' | curl -sS '${data}/uploads' -H "x-api-key: $KEY" -F sourceKind=csv -F targetKind=existing -F uploadTableId=${uploadTableId} -F 'files=@-;filename=mine.csv'

# and, a second or two later, find them
${get(data, { ...table, filters: json([{ column: 'plot', operator: 'greater_than', value: 12 }]), columns: 'plot,treatment,spad' })}
`;
}
