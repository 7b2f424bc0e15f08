import type { Written } from './frame.ts';
import { writeNewsletterConfirmation } from './newsletter.ts';
import { writeSignInCode } from './sign-in-code.ts';
import { writeProjectImported, writeTransferRequested } from './transfers.ts';

/** Every letter that the service writes, by name. Adding one here is all it takes to make it sendable. */
const LETTERS = {
  'sign-in-code': writeSignInCode,
  'transfer-requested': writeTransferRequested,
  'project-imported': writeProjectImported,
  'newsletter-confirmation': writeNewsletterConfirmation,
} as const;

export type LetterName = keyof typeof LETTERS;
export type LetterData<N extends LetterName> = Parameters<(typeof LETTERS)[N]>[0];

export const writeLetter = (name: LetterName, data: object): Written => (LETTERS[name] as (given: object) => Written)(data);

export const isLetterName = (name: string): name is LetterName => Object.hasOwn(LETTERS, name);
