import { useEffect, useState } from 'react';

/** A value as it is once it has not changed for a while, so that not every letter that is typed is asked about. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 400);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
