import { useState } from 'react';

/** A value that is being written, and the stored version that it changes. */
export interface Draft<T> {
  value: T;
  /** Whether it differs from what is stored. */
  isChanged: boolean;
  /** The tag of the version that was read before the first change, or of a newer one that has the same value. */
  tag: string;
  change: (value: T) => void;
  /** Says that a value is stored now. What was written meanwhile stays. */
  settle: (saved: T) => void;
  /** Goes back to what is stored. */
  drop: () => void;
}

const sameAs = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Keeps what is written until it is stored. */
export function useDraft<T>(stored: T, tag: string): Draft<T> {
  const [kept, setKept] = useState<{ value: T; from: { value: T; tag: string } | null }>();
  const isChanged = kept !== undefined && !sameAs(kept.value, stored);
  const now = { value: stored, tag };
  const from = isChanged && kept.from !== null && !sameAs(kept.from.value, stored) ? kept.from : now;
  return {
    value: isChanged ? kept.value : stored,
    isChanged,
    tag: from.tag,
    change: (value) => setKept({ value, from }),
    settle: (saved) => setKept((last) => (last === undefined || sameAs(last.value, saved) ? undefined : { value: last.value, from: null })),
    drop: () => setKept(undefined),
  };
}
