import pg from 'pg';
import { search } from '../src/api/search/search.queries.ts';
import { openDatabase } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { against, quantile, type Measured } from './pairs.ts';
import { seedSearch } from './seed-search.ts';

const RESOURCES = Number(process.env['SEARCH'] ?? 200_000);
const BOUND_MS = 50;

/** What people type, by its shape. */
const SHAPES: Record<string, readonly string[]> = {
  'one common word': ['leaf', 'trial', 'maize', 'drought', 'stress'],
  'one rare word': ['lichen', 'moss', '123456', 'cocoa', 'spruce'],
  'several common words': [
    'maize drought',
    'photosynthesis nitrogen',
    'leaf trial maize',
    'tomato soil trial',
    'wheat stress canopy',
    'leaf maize drought chlorophyll',
  ],
  'a common and a rare word': ['trial lichen', 'leaf spruce', 'maize 54321', 'drought cocoa'],
  prefixes: ['chloro', 'photosyn', 'stomata hum', 'le', 'a', 'tri', 'phos car'],
  misspelt: ['droght', 'flourescence', 'wheat stres', 'chlorofyll', 'nitrogn maize', 'photosinthesis'],
  'part of a word': ['ough', 'synth', 'rophyll'],
  people: ['chen', 'surname12', 'ana surname120', 'surname1999', 'kofi maize'],
  places: ['wageningen', 'nairobi drought', 'east lansing', 'kyoto station'],
  'languages and families': ['python', 'multispeq', 'javascript leaf', 'python calibration'],
  nothing: ['zebra', 'zebra maize', 'qqq www', 'xylophone quartet'],
};

/** Search over 200,000 resources, by what is typed, for somebody who reads a quarter of them and somebody who reads little more than what is public. */
export async function benchSearch(url: string): Promise<Measured[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const people = await seedSearch(client, RESOURCES).finally(() => client.end());
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 2 });
  const results: Measured[] = [];
  const all: number[] = [];
  try {
    for (const [shape, terms] of Object.entries(SHAPES)) {
      const taken: number[] = [];
      for (const userId of Object.values(people)) {
        for (const term of terms) {
          await search(db, userId, term, 20);
          for (let turn = 0; turn < 7; turn += 1) {
            const start = performance.now();
            await search(db, userId, term, 20);
            taken.push(performance.now() - start);
          }
        }
      }
      all.push(...taken);
      results.push(against(`search: ${shape}, p95 over ${RESOURCES.toLocaleString('en')} resources, ms`, quantile(taken, 0.95), BOUND_MS));
    }
    results.push(against(`search: all of these, p50, ms`, quantile(all, 0.5), BOUND_MS));
    results.push(against(`search: all of these, p95, ms`, quantile(all, 0.95), BOUND_MS));
  } finally {
    await db.close();
  }
  return results;
}
