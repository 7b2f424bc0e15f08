import { createHash } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/database.ts';
import { storeBrokerMessages } from '../../ingest/broker-messages.ts';
import type { BrokerMessage } from '../../iot/connections.ts';
import { refreshIdentity } from '../data/identity.service.ts';
import {
  addFacts,
  addHours,
  addRecent,
  addRuns,
  insertMessages,
  listBatch,
  listFacts,
  listWaiting,
  replayArchived,
  settleMessages,
  trimRecent,
  tryLock,
  type Fact,
  type NewMessage,
} from './messages.queries.ts';
import { shape, type Shaped } from './shaping.ts';

const BATCH = 2_000;
const RECENT = 50;
const AT_ONCE = 1_000;

const messageOf = ({ topic, clientId, userId, payload, receivedAt }: BrokerMessage): NewMessage => ({
  source: createHash('sha256')
    .update(JSON.stringify([topic.experimentId, clientId]))
    .update(payload)
    .digest('hex')
    .slice(0, 40),
  experimentId: topic.experimentId,
  clientId,
  userId,
  sensorType: topic.sensorType,
  sensorVersion: topic.sensorVersion,
  sensorId: topic.sensorId,
  protocolId: topic.kind === 'measurement' ? topic.protocolId : null,
  payload: payload.toString('hex'),
  receivedAt,
});

/** Makes messages durable; those that come while one statement runs go into the next together. */
export function messageKeeper(db: Database): (message: BrokerMessage) => Promise<void> {
  interface Waiting {
    message: NewMessage;
    resolve: () => void;
    reject: (cause: unknown) => void;
  }
  let queue: Waiting[] = [];
  let running = false;
  const drain = async () => {
    running = true;
    while (queue.length > 0) {
      const batch = queue.splice(0, AT_ONCE);
      try {
        // the same bytes twice in one statement are one message
        await insertMessages(db, [...new Map(batch.map(({ message }) => [message.source, message])).values()]);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  };
  return (message) =>
    new Promise((resolve, reject) => {
      queue = [...queue, { message: messageOf(message), resolve, reject }];
      if (!running) void drain();
    });
}

const factRow = (experimentId: string) => (fact: Fact) => ({
  id: createHash('sha256')
    .update(JSON.stringify([experimentId, fact.clientId, fact.deviceId, fact.firmware]))
    .digest('hex')
    .slice(0, 20),
  device_id: fact.deviceId,
  client_id: fact.clientId,
  device_firmware: fact.firmware === '' ? null : fact.firmware,
  device_name: fact.name,
  device_version: fact.version,
  device_battery: fact.battery,
  total_measurements: fact.total,
  processed_timestamp: fact.processedAt,
  experiment_id: experimentId,
});

/** Stores one batch of an experiment: rows, sums and verdicts become visible together. Answers how many messages there were. */
async function storeBatch(ctx: Context, experimentId: string): Promise<number> {
  let undo: (() => Promise<void>) | undefined;
  try {
    return await ctx.db.transaction(async (tx) => {
      if ((await tryLock(tx, experimentId))?.mine !== true) return 0;
      const messages = await listBatch(tx, experimentId, BATCH);
      if (messages.length === 0) return 0;
      const shaped: Shaped = shape(experimentId, messages, new Date().toISOString());
      if (shaped.rows.length > 0) {
        await addFacts(tx, experimentId, shaped.facts);
        await addHours(tx, experimentId, shaped.hours);
        if (shaped.runs.length > 0) await addRuns(tx, shaped.runs);
        await addRecent(tx, experimentId, shaped.recent);
        await trimRecent(tx, [...new Set(shaped.recent.map(({ clientId }) => clientId))], RECENT);
        const source = createHash('sha256')
          .update(JSON.stringify(messages.map(({ id }) => id)))
          .digest('hex')
          .slice(0, 20);
        const devices = (await listFacts(tx, experimentId)).map(factRow(experimentId));
        undo = await storeBrokerMessages(tx, ctx, { experimentId, source, rows: shaped.rows, devices });
      }
      await settleMessages(tx, shaped.verdicts);
      return messages.length;
    });
  } catch (error) {
    // a commit whose outcome is unknown keeps its files: what no manifest names is swept later
    if (undo && (error as { code?: string }).code !== 'DATABASE_UNAVAILABLE') await undo();
    throw error;
  }
}

/** Turns waiting messages into rows, experiment by experiment, until none waits. */
export async function storeWaitingMessages(ctx: Context): Promise<void> {
  await replayArchived(ctx.db);
  for (const { experimentId, people } of await listWaiting(ctx.db)) {
    try {
      // names first, so that the first read of the rows shows them
      if (people) await refreshIdentity(ctx, experimentId);
      for (let taken = BATCH; taken === BATCH;) taken = await storeBatch(ctx, experimentId);
    } catch (error) {
      // one experiment that fails keeps no other back; it is tried again at the next tick
      ctx.log.warn({ err: error, experimentId }, 'messages could not be stored yet');
    }
  }
}
