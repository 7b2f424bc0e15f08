import type { Database, Transaction } from '../../database/database.ts';
import { storeMessages, type MeasurementRow, type NewArrival } from '../../ingest/messages/store.ts';
import type { BrokerMessage } from '../../iot/connections.ts';
import { addHours, addRecent, addRuns, listBegun, trimRecent } from './measurements.queries.ts';
import { findLastInstant, RECENT, sumMeasurements } from './shaping.ts';

/** What one statement takes at most. */
const AT_ONCE = { messages: 1_000, bytes: 8_388_608 };

/** The broker has already decided that the sender may publish to the topic. Which of the contents are stored is decided when the message is read. */
const arrivalOf = ({ topic, clientId, userId, payload }: BrokerMessage): NewArrival => ({
  experimentId: topic.experimentId,
  clientId,
  userId,
  protocolId: topic.kind === 'measurement' ? topic.protocolId : null,
  body: payload,
});

interface Waiting {
  arrival: NewArrival;
  byteCount: number;
  resolve: () => void;
  reject: (cause: unknown) => void;
}

function takeBatch(queue: Waiting[]): Waiting[] {
  let count = 0;
  for (let bytes = 0; count < Math.min(queue.length, AT_ONCE.messages); count += 1) {
    bytes += queue[count]?.byteCount ?? 0;
    if (count > 0 && bytes > AT_ONCE.bytes) break;
  }
  return queue.splice(0, count);
}

/**
 * Makes the function that stores messages. Messages that come while one statement runs go together into the next. The promise of a message resolves when the
 * message may be acknowledged.
 */
export function makeMessageKeeper(db: Database): (message: BrokerMessage) => Promise<void> {
  const queue: Waiting[] = [];
  let running = false;
  const drain = async () => {
    running = true;
    while (queue.length > 0) {
      const batch = takeBatch(queue);
      try {
        await storeMessages(
          db,
          batch.map(({ arrival }) => arrival),
        );
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  };
  return (message) =>
    new Promise((resolve, reject) => {
      queue.push({ arrival: arrivalOf(message), byteCount: message.payload.byteLength, resolve, reject });
      if (!running) void drain();
    });
}

/** Leaves out what a device sent before the organization that has it now registered it. */
async function pickOwn(tx: Transaction, measurements: readonly (readonly MeasurementRow[])[]) {
  const clientIds = [...new Set(measurements.flatMap(([row]) => row?.clientId ?? []))];
  if (clientIds.length === 0) return measurements;
  const begun = new Map((await listBegun(tx, clientIds)).map(({ clientId, begunAt }) => [clientId, begunAt.getTime()]));
  if (begun.size === 0) return measurements;
  return measurements.filter(([row]) => row === undefined || Date.parse(row.processedAt) >= (begun.get(row.clientId ?? '') ?? 0));
}

/** Adds measurements to the sums and lists by which devices are monitored, in the transaction that stores the measurements. */
export async function countMeasurements(
  tx: Transaction,
  experimentId: string,
  measurements: readonly (readonly MeasurementRow[])[],
): Promise<void> {
  const last = findLastInstant();
  const { hours, runs, recent } = sumMeasurements(await pickOwn(tx, measurements), last);
  await addHours(tx, experimentId, hours);
  if (runs.length > 0) await addRuns(tx, experimentId, runs);
  if (recent.length === 0) return;
  await addRecent(tx, experimentId, recent);
  await trimRecent(tx, [...new Set(recent.map(({ clientId }) => clientId))], { keep: RECENT, last });
}
