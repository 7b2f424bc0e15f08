/** A listener's position in the changes of an experiment: the listener knows everything before it. Printed as text, it is the id of an event. */
export interface Position {
  /** Names one course of the database's transactions; a crash or a restore begins another. */
  epoch: string;
  /** Transaction and number of the last known change. Number 0 comes before every change of a transaction. */
  xid: string;
  n: number;
  /** When the position was given, in seconds. A position older than the kept changes cannot be resumed from. */
  at: number;
}

const TEXT = /^([0-9a-f]{8})\.(\d{1,20})\.(\d{1,15})\.(\d{1,11})$/;

export const printPosition = ({ epoch, xid, n, at }: Position): string => `${epoch}.${xid}.${n}.${at}`;

/** Reads a position from text; undefined when the text is none. */
export function readPosition(text: string): Position | undefined {
  const [, epoch, xid, n, at] = TEXT.exec(text) ?? [];
  return epoch === undefined || xid === undefined || BigInt(xid) >= 2n ** 63n ? undefined : { epoch, xid, n: Number(n), at: Number(at) };
}
