/** Takes stored messages apart again, and stores their rows by the definitions of today. */
import { commit, findTable, printFingerprint, listKnownSources, restampSources } from '../../lakehouse/tables/manifest.ts';
import { hashMessage, makeDeviceHasher } from './ids.ts';
import { makeMeasurementRows, type MeasurementRow } from './rows.ts';
import { openTable, stageMeasurements } from './tables.ts';
import type { ReadMessage } from './store.ts';
import { hashPipelines } from '../pipeline.ts';
import { replaceRows, stageWithout, type ReplacingDeps } from './replacing.ts';

/** Makes the rows of those measurements in these messages that are stored, and that came with the same message. */
async function storedRows({ db }: ReplacingDeps, tableId: string, experimentId: string, messages: readonly ReadMessage[]) {
  const asked = new Map<string, { message: ReadMessage; rows: MeasurementRow[] }>();
  const deviceRow = makeDeviceHasher(experimentId);
  for (const message of messages)
    for (const one of message.decoded) {
      if (one.kind !== 'measurement') continue;
      const source = hashMessage(experimentId, message.arrival, one);
      const rows = makeMeasurementRows({ source, deviceRow }, message.arrival, one);
      if (typeof rows !== 'string' && !asked.has(source)) asked.set(source, { message, rows });
    }
  const known = await listKnownSources(db, tableId, [...asked.keys()]);
  return known.flatMap(({ source, origin }) => {
    const found = asked.get(source);
    return found && (origin === null || origin === found.message.id) ? [{ source, rows: found.rows }] : [];
  });
}

/**
 * Replaces the rows of raw_data that came from stored messages of one experiment by rows made anew, in one transaction. A measurement that is not stored is
 * left alone. Answers how many rows were replaced. Row ids stay. The device table and what macros made are left as they are.
 */
export function replayMessages(deps: ReplacingDeps, experimentId: string, messages: readonly ReadMessage[]): Promise<number> {
  return replaceRows(deps, experimentId, async (batch, written) => {
    const { db, pipelines } = batch;
    const raw = await findTable(db, experimentId, 'raw_data');
    const stored = raw ? await storedRows(deps, raw.id, experimentId, messages) : [];
    if (stored.length === 0) return 0;
    const table = await openTable(batch, 'raw_data', 'raw_data');
    const rest = await stageWithout(batch, table, { key: 'source', values: stored.map(({ source }) => source) });
    written.push(rest.staged);
    const rows = stored.flatMap((each) => each.rows);
    const { staged, columns } = await stageMeasurements(batch, table.id, rows);
    written.push(staged);
    await db.transaction(async (tx) => {
      const files = [...(rest.staged?.files ?? []), ...staged.files];
      const change = { tableId: table.id, cause: 'replace' as const, files, retire: rest.retire, columns };
      const { version } = await commit(tx, { ...change, typedBy: printFingerprint(table.known), basedOn: table.version });
      const pipelineVersion = hashPipelines(pipelines);
      const sources = stored.map(({ source, rows: made }) => ({ source, version, rowCount: made.length, pipelineVersion }));
      await restampSources(tx, table.id, sources);
    });
    return rows.length;
  });
}
