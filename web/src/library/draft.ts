import { useState } from 'react';

/** A value that is being written, and the stored version that it changes. */
export interface Draft<T> {
  value: T;
  /** Whether it differs from what is stored. */
  isChanged: boolean;
  /** The tag of the version that was read before the first change. */
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
  const [kept, setKept] = useState<{ value: T; tag: string | null }>();
  const isChanged = kept !== undefined && !sameAs(kept.value, stored);
  return {
    value: isChanged ? kept.value : stored,
    isChanged,
    tag: isChanged ? (kept.tag ?? tag) : tag,
    change: (value) => setKept({ value, tag: isChanged ? (kept.tag ?? tag) : tag }),
    settle: (saved) => setKept((now) => (now === undefined || sameAs(now.value, saved) ? undefined : { value: now.value, tag: null })),
    drop: () => setKept(undefined),
  };
}
