import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { StartError } from '../../errors.ts';
import type { Context } from '../../context.ts';
import { startBroker } from '../../iot/broker.ts';
import type { PresenceEvent } from '../../iot/connections.ts';
import { makeRegistryStore, THINGS_CHANNEL } from '../devices/lifecycle.service.ts';
import { makeMessageKeeper } from './measurements.service.ts';
import { beatBroker, hasAccount, putPresence } from './measurements.queries.ts';

const BEAT_MS = 5_000;

/** Runs the embedded broker, and answers the function that stops it. Does nothing with AWS IoT, or where the broker is switched off. */
export async function runBroker(ctx: Context): Promise<() => Promise<void>> {
  const { embedded } = ctx.iot;
  const { broker: wanted, port, hostname } = ctx.config.iot;
  if (!embedded || !wanted) return () => Promise.resolve();
  const { db, log, config } = ctx;
  const store = makeRegistryStore(db);
  // several processes may run one, on machines that look alike too
  const name = randomUUID();
  await beatBroker(db, name);
  const broker = await startBroker({
    host: config.host,
    port,
    authority: embedded.authority,
    hostnames: [hostname],
    arnPrefix: ctx.iot.registry.arnPrefix,
    findDevice: async (certificateId) => {
      const record = await store.findByCertificate(certificateId);
      const held = record?.certificates.find((certificate) => certificate.certificateId === certificateId);
      return record && held ? { thingName: record.thingName, status: held.status, policies: record.policies } : null;
    },
    findEnd: store.findEnd,
    findPerson: (accessKeyId, token) => embedded.tokens.verify(accessKeyId, token),
    hasAccount: (userId) => hasAccount(db, userId),
    onMessage: makeMessageKeeper(db),
    onPresence: async ({ thingName, userId, clientId, eventType, timestamp, disconnectReason, sessionIdentifier }: PresenceEvent) => {
      // a device whose certificate has just become invalid has no thing name, but its client id is still the name of its thing
      const thing = thingName ?? (userId === null && !clientId.startsWith('u-') ? clientId : null);
      if (thing === null) return;
      await putPresence(db, {
        id: randomUUIDv7(),
        thingName: thing,
        eventType,
        at: timestamp,
        reason: disconnectReason,
        session: sessionIdentifier,
        broker: name,
      });
    },
    onRefusal: (refusal) => log.info(refusal, 'the broker refused a client'),
    onProblem: (cause) => log.warn({ err: cause }, 'the broker had a problem'),
  }).catch((error: unknown) => {
    const inUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    throw inUse
      ? new StartError(`BROKER_PORT ${port} is in use on ${config.host}; choose another, 0 to have one picked, or BROKER=off.`)
      : error;
  });
  ctx.iot.broker = { port: broker.port, refresh: (thing) => broker.refresh(thing) };
  const deafen = await db.listen(
    THINGS_CHANNEL,
    (thing) => void broker.refresh(thing).catch((error: unknown) => log.warn({ err: error }, 'a thing could not be looked up')),
  );
  const beat = setInterval(() => void beatBroker(db, name).catch(() => undefined), BEAT_MS);
  return async () => {
    clearInterval(beat);
    ctx.iot.broker = null;
    await deafen();
    await broker.close();
  };
}
