import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { deleteThingRow, findThingHolder } from './lifecycle.queries.ts';

export const DISOWN_THING = 'devices.disown';

export interface Discarded {
  deviceId: string;
  thingName: string;
}

/** Deletes a device inside a transaction that deletes more than the device. Its certificates end right after the commit. */
export async function discardDevice(ctx: Context, tx: Transaction, deviceId: string): Promise<void> {
  const row = await deleteThingRow(tx, deviceId);
  if (row) await ctx.jobs.enqueue(DISOWN_THING, { deviceId, thingName: row.thingName }, { tx, key: deviceId });
}

/** Removes what the registry holds of a device whose row is gone. A thing that was registered anew meanwhile keeps the certificate that its new row names. */
export const disownThing = (ctx: Context, { deviceId, thingName }: Discarded): Promise<void> =>
  ctx.iot.lifecycle.disown(deviceId, thingName, async () => (await findThingHolder(ctx.db, thingName)) ?? null);
