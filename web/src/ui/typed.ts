import { useState } from 'react';

interface Kept {
  /** The value that the field began with. */
  value: string;
  text: string;
  /** What the field has held since: a value that is one of these was written here. */
  passed: readonly string[];
}

/**
 * Keeps what is typed into a field until the value that it began with is another. The field stays as it is meanwhile, and keeps the focus. A value that was
 * written in the field itself may come back late, and takes nothing of what was written after it.
 */
export function useTyped(value: string): [typed: string, type: (text: string) => void] {
  const [kept, setKept] = useState<Kept>({ value, text: value, passed: [] });
  const at = kept.passed.indexOf(value);
  const now =
    kept.value === value ? kept : at < 0 ? { value, text: value, passed: [] } : { ...kept, value, passed: kept.passed.slice(at + 1) };
  if (now !== kept) setKept(now);
  return [now.text, (text) => setKept({ value, text, passed: [...now.passed, text] })];
}
