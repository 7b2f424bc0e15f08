import { useState } from 'react';

/** Keeps the former value while the new one says the same, so that what is drawn from it is not drawn again. */
export function useSteady<T>(value: T): T {
  const [kept, setKept] = useState(value);
  if (JSON.stringify(kept) === JSON.stringify(value)) return kept;
  setKept(value);
  return value;
}
