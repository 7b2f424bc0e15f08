import type { Written } from './frame.ts';
import { newsletterConfirmation } from './newsletter.ts';
import { signInCode } from './sign-in-code.ts';
import { projectImported, transferRequested } from './transfers.ts';

/** Every letter that the service writes, by name. Adding one here is all it takes to make it sendable. */
export const LETTERS = {
  'sign-in-code': signInCode,
  'transfer-requested': transferRequested,
  'project-imported': projectImported,
  'newsletter-confirmation': newsletterConfirmation,
} as const;

export type LetterName = keyof typeof LETTERS;
export type LetterData<N extends LetterName> = Parameters<(typeof LETTERS)[N]>[0];

/** Writes the named letter. */
export const writeLetter = (name: LetterName, data: object): Written => (LETTERS[name] as (given: object) => Written)(data);

export const isLetterName = (name: string): name is LetterName => Object.hasOwn(LETTERS, name);
