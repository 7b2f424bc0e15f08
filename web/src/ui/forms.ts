import { useState } from 'react';
import { ProblemError } from '../../../clients/typescript/src/problem.ts';

/** The text of each named control of a form. */
export function fieldsOf(form: HTMLFormElement): Record<string, string | undefined> {
  const fields: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields[name] = value;
  return fields;
}

/** Remembers what a form holds. Answers a function to call once that is taken: it resets or ends the form, unless somebody has written on meanwhile. */
export function resetOnceTaken(form: HTMLFormElement, end = () => form.reset()): () => void {
  const textOf = () => JSON.stringify(fieldsOf(form));
  const sent = textOf();
  return () => {
    if (textOf() === sent) end();
  };
}

/** Whether somebody else saved meanwhile what was to be changed, or made what was to be made. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof ProblemError && (error.status === 412 || error.code === 'FLOW_EXISTS');

/** That somebody else saved meanwhile, as a person was told it. */
export interface Told {
  /** Of what was stored then. Whoever saves over it writes over nothing newer. */
  tag: string;
  /** Somebody saved once more after it was told. */
  isAgain: boolean;
}

/** Remembers what a person was told of the saving of others, until theirs is saved or dropped. `newest` is the tag that was read last. */
export function useTold({ error, isPending }: { error: unknown; isPending: boolean }, newest: string): Told | undefined {
  const [told, setTold] = useState<Told & { refusal: unknown }>();
  if (isOutdated(error) && told?.refusal !== error)
    setTold({ refusal: error, tag: newest, isAgain: told !== undefined && (told.isAgain || told.tag !== newest) });
  else if (error === null && !isPending && told !== undefined) setTold(undefined);
  return told;
}

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
