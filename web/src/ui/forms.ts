import { useState } from 'react';
import { ProblemError } from '../../../clients/typescript/src/problem.ts';

/** The text of each named control of a form. */
export function fieldsOf(form: HTMLFormElement): Record<string, string | undefined> {
  const fields: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields[name] = value;
  return fields;
}

/** Remembers what a form holds. Answers a function to call once that is taken: it resets the form, unless somebody has written on meanwhile. */
export function resetOnceTaken(form: HTMLFormElement): () => void {
  const textOf = () => JSON.stringify(fieldsOf(form));
  const sent = textOf();
  return () => {
    if (textOf() === sent) form.reset();
  };
}

/** Whether somebody else saved meanwhile what was to be changed. */
export const isOutdated = (error: unknown): boolean => error instanceof ProblemError && error.status === 412;

/** The tag to send with what a form holds, what to do as it is written in, and once that is taken. */
interface Begun {
  tag: string;
  begin: () => void;
  end: () => void;
}

/**
 * Keeps the tag that counted when somebody began to write in a form, for as long as what it changes is stored otherwise than it was then: the service
 * refuses it with 412, and nothing that somebody else wrote is lost. `stored` is what the form changes, as it is read last.
 */
export function useBegun(tag: string, stored: Readonly<Record<string, unknown>>): Begun {
  const now = JSON.stringify(stored);
  const [begun, setBegun] = useState<{ tag: string; stored: string } | null>(null);
  return {
    tag: begun === null || begun.stored === now ? tag : begun.tag,
    begin: () => setBegun((before) => before ?? { tag, stored: now }),
    end: () => setBegun(null),
  };
}
