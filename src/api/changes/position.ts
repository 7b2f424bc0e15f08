/** Where a listener stands in the changes of an experiment: everything before is known to it. Text of it is the id of an event. */
export interface Position {
  /** Names the course of the database's transactions. */
  epoch: string;
  /** Transaction and number of the last change that is known; number 0 stands before a transaction. */
  xid: string;
  n: number;
  /** When it was given, in seconds: what is older than what is kept cannot be gone on from. */
  at: number;
}

const TEXT = /^([0-9a-f]{8})\.(\d{1,20})\.(\d{1,15})\.(\d{1,11})$/;

export const printPosition = ({ epoch, xid, n, at }: Position): string => `${epoch}.${xid}.${n}.${at}`;

/** The position that a text says; undefined when it says none. */
export function readPosition(text: string): Position | undefined {
  const [, epoch, xid, n, at] = TEXT.exec(text) ?? [];
  return epoch === undefined || xid === undefined || BigInt(xid) >= 2n ** 63n ? undefined : { epoch, xid, n: Number(n), at: Number(at) };
}
