import { useState } from 'react';

/** Keeps what is typed into a field until the value that it began with is another. The field stays as it is meanwhile, and keeps the focus. */
export function useTyped(value: string): [typed: string, type: (text: string) => void] {
  const [kept, setKept] = useState({ value, text: value });
  if (kept.value !== value) setKept({ value, text: value });
  return [kept.value === value ? kept.text : value, (text) => setKept({ value, text })];
}
