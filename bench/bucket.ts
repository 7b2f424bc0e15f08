/** Reads of a lake that is a bucket (moto's), against the same rows in a folder; and what a read brings to an empty disk. */
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import pg from 'pg';
import { migrate } from '../src/database/migrate.ts';
import { startMoto } from '../test/support/moto.ts';
import { against, pairs, warm, type Measured } from './pairs.ts';
import { QUESTIONS, asking } from './reads.ts';
import { startReadsSite } from './seed-reads.ts';

const BUCKET = 'bench';
const REGION = 'eu-central-1';
const TABLE = 'bench';

/** A migrated database beside the one at `url`. */
async function addDatabase(url: string, name: string): Promise<string> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  // a URL with a socket for its host is none to Node
  const added = url.replace(/[^/]*(?=\?host=)/, name);
  const release = await migrate({ url: added, folder: join(import.meta.dirname, '..', 'sql') });
  await release();
  return added;
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.parquet'))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

/** Bounds: warm reads at most 1.1, bytes of a cold read at most 1. `ROWS` makes it smaller than 5 million. */
export async function benchBucket(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const rows = Number(process.env['ROWS'] ?? 5_000_000);
  const { endpoint, stop: stopMoto } = await startMoto();
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench-secret' };
  const client = new S3Client({ endpoint, region: REGION, forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET, CreateBucketConfiguration: { LocationConstraint: REGION } }));
  client.destroy();
  const place = (name: string) => {
    const folder = join(dataDir, name);
    mkdirSync(folder);
    return folder;
  };
  const engine = { tables: { [TABLE]: rows }, threads: 2, memoryMb: 256 };
  const onDisk = await startReadsSite({ ...engine, url, dataDir: place('folder') });
  const onBucket = await startReadsSite({
    ...engine,
    url: await addDatabase(url, 'on_bucket'),
    dataDir: place('bucket'),
    servingDir: place('empty'),
    settings: {
      S3_BUCKET: BUCKET,
      S3_REGION: REGION,
      S3_ENDPOINT: endpoint,
      S3_ACCESS_KEY_ID: credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  try {
    // rows of the first 1,000 tens of seconds lie in one file
    const narrow = {
      name: 'page of the first hours',
      query: {
        filters: JSON.stringify([{ column: 'measured_at', operator: 'less_than', value: '2024-01-01T02:40:00Z' }]),
        pageSize: '100',
      },
    };
    const cold = await asking({ site: onBucket, agent }, narrow, TABLE)();
    const [first = ''] = onDisk.filesOf(TABLE);
    onMeasured(
      against(
        'a read of one file over an empty disk: bytes brought against bytes of the file',
        bytesIn(join(dataDir, 'empty')),
        statSync(first).size,
      ),
    );
    process.stdout.write(`that read took ${cold.toFixed(0)} ms\n`);
    for (const question of QUESTIONS) {
      const [ours, theirs] = [asking({ site: onBucket, agent }, question, TABLE), asking({ site: onDisk, agent }, question, TABLE)];
      await warm(ours, theirs);
      onMeasured(await pairs(`${question.name} over ${rows} rows, bucket against folder, ms`, ours, theirs));
    }
  } finally {
    agent.destroy();
    await onBucket.stop();
    await onDisk.stop();
    await stopMoto();
  }
}
