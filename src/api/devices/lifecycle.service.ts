import type { Database } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import type { BrokerHooks } from '../../iot/connections.ts';
import type { RegistryStore } from '../../iot/registries/embedded.ts';
import type { LifecycleStore } from '../../iot/sequences.ts';
import { Turns } from '../../waiting.ts';
import { deleteDevice } from './devices.queries.ts';
import {
  announceThing,
  findEnd,
  deleteThing,
  findLifecycle,
  findThing,
  findThingByCertificate,
  limitWait,
  listBindings,
  listPresence,
  listUnfinished,
  lockDevice,
  lockThing,
  noteEnd,
  putThing,
  updateLifecycle,
} from './lifecycle.queries.ts';

/** The channel on which changed things are announced. */
export const THINGS_CHANNEL = 'fieldlake_things';

/** The embedded registry's records in Postgres. */
export const makeRegistryStore = (db: Database): RegistryStore & Pick<BrokerHooks, 'findEnd'> => ({
  find: async (thingName) => (await findThing(db, thingName))?.record ?? null,
  findByCertificate: async (certificateId) => (await findThingByCertificate(db, certificateId))?.record ?? null,
  change: (thingName, change) =>
    db.transaction(async (tx) => {
      await lockThing(tx, thingName);
      const next = change((await findThing(tx, thingName))?.record ?? null);
      if (next) await putThing(tx, next);
      else await deleteThing(tx, thingName);
      await announceThing(tx, thingName);
    }),
  findEnd: (certificateId) => findEnd(db, certificateId),
  noteEnd: async (certificateId, end) => {
    await noteEnd(db, certificateId, end);
  },
  presence: (thingNames) => listPresence(db, thingNames),
});

/** How many changes run at once in a process. Each holds one connection for its lock, and needs another for its steps. */
const AT_ONCE = 6;

const isLockTimeout = (error: unknown) => (error as { cause?: { code?: string } }).cause?.code === '55P03';

/**
 * Makes the store of devices' rows and steps in Postgres. A lock ends with the process that holds it. Changes that moved within `quietSeconds` are not called
 * unfinished.
 */
export function makeLifecycleStore(db: Database, quietSeconds = 0): LifecycleStore {
  const turns = new Turns(AT_ONCE);
  return {
    load: async (deviceId) => (await findLifecycle(db, deviceId)) ?? null,
    save: async (deviceId, sequence, row = {}) => {
      await updateLifecycle(db, deviceId, sequence, row);
    },
    remove: async (deviceId) => {
      await deleteDevice(db, deviceId);
    },
    unfinished: () => listUnfinished(db, quietSeconds),
    bindings: (deviceId) => listBindings(db, deviceId),
    lock: (deviceId, work) =>
      turns.take(() =>
        db.transaction(async (tx) => {
          await limitWait(tx);
          await lockDevice(tx, deviceId).catch((error: unknown) => {
            throw isLockTimeout(error) ? errors.deviceBusy().with({ retryAfter: 2 }) : error;
          });
          return work();
        }),
      ),
  };
}
