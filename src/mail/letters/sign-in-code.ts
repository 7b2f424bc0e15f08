import { writeLetter, type Written } from './frame.ts';

export interface SignInCodeData {
  /** Six digits. */
  code: string;
  minutes: number;
}

export const writeSignInCode = ({ code, minutes }: SignInCodeData): Written =>
  writeLetter({
    subject: 'Your login code for fieldlake',
    paragraphs: ['Enter this code to sign in:', `It works once, for ${minutes} minutes. Nobody from fieldlake will ever ask you for it.`],
    highlight: code,
    footer: 'You receive this because somebody entered your address on the sign-in page. If that was not you, there is nothing to do.',
  });
