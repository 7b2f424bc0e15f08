/**
 * Makes the ids of deliveries, of the rows of messages, of the rows that macros make of them, and of devices. Each id is made from what was sent, so that the
 * same data gets the same id again.
 */
import { hash } from 'node:crypto';

const FIRST = '0'.repeat(12);

const digest = (...parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts)).slice(0, 20);

/** Makes the identity of one delivery: 20 hex digits over the experiment, the sender and the SHA-256 of the bytes. `body` is the bytes, or that SHA-256. */
export const hashDelivery = (experimentId: string, sender: string, body: Uint8Array | string): string =>
  digest('delivery', experimentId, sender, typeof body === 'string' ? body : hash('sha256', body));

interface Sender {
  userId: string | null;
  clientId: string | null;
}

/** What a message says of itself: an id of its own, or the SHA-256 of its text. */
interface Identified {
  ownId: string | null;
  sha256: string | null;
}

/** Makes the identity of an experiment's message: 20 hex digits over the experiment, the sender, and the message's own id, or else the hash of its text. */
export const hashMessage = (experimentId: string, { userId, clientId }: Sender, { ownId, sha256 }: Identified): string =>
  digest('message', experimentId, userId ?? clientId ?? '', ownId ?? sha256);

/** Identity of what one macro made of one measurement. */
export const hashMacroSource = (rawId: string, macroId: string): string => digest('macro', rawId, macroId.toLowerCase());

/**
 * Makes the row id of the n-th output of a macro for a measurement: 32 hex digits, within a burst in the order of its elements. The id stays when the macro is
 * run again.
 */
export const hashMacroRowId = (rawId: string, macroId: string, index: number): string =>
  hashRowId(digest('macro row', rawId.slice(0, 20), macroId.toLowerCase()), Number.parseInt(rawId.slice(20), 16) * 2 ** 24 + index);

/** The row id of the n-th row of a source: 32 hex digits, in the order of the rows. */
export const hashRowId = (source: string, index: number): string => source + (index === 0 ? FIRST : index.toString(16).padStart(12, '0'));

interface Device {
  deviceId: string | null;
  deviceFirmware: string | null;
}

/** Makes the row ids of an experiment's devices. They are kept, because there are few devices and many measurements of each. */
export function makeDeviceHasher(experimentId: string): (message: Device) => string {
  const known = new Map<string | null, Map<string | null, string>>();
  return ({ deviceId, deviceFirmware }) => {
    const ofDevice = known.get(deviceId) ?? new Map<string | null, string>();
    const row = ofDevice.get(deviceFirmware) ?? hashRowId(digest('device', experimentId, deviceId, deviceFirmware), 0);
    ofDevice.set(deviceFirmware, row);
    known.set(deviceId, ofDevice);
    return row;
  };
}
