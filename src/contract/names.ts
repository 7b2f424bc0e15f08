/** What names may hold, whoever and whatever they name. The published document says it of every text of the format `name`. */

/** Blanks of every width. A class of blanks of a language is none of these, since languages differ in it. */
const BLANKS = String.raw`\u0020\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000`;
/** What is drawn as nothing, or changes what stands beside it: joiners, fillers, selectors of variants, the blank of Braille. Names may hold it among other letters. */
const FAINT = String.raw`\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u200c\u200d\u2800\u3164\ufe00-\ufe0f\uffa0`;
/** Controls, ends of lines and paragraphs, marks of direction, blanks of no width, hidden formats, and code points that stay unassigned. */
const UNSEEN = String.raw`\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2027-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff`;
/** A range may not begin with U+2028: generators of clients write it out, and it ends a line of JavaScript. So the range begins one earlier, and that one is taken. */
const TAKEN = String.raw`\u2027`;

/**
 * At least one character that is seen, and none that is unseen. It says the same to engines that read code points and to those that read halves of them,
 * knows no classes that languages differ in, and takes time in proportion to the text, whatever that holds.
 */
export const NAME_PATTERN = `^[${BLANKS}${FAINT}]*(?:[^${BLANKS}${FAINT}${UNSEEN}]|${TAKEN})(?:[^${UNSEEN}]|${TAKEN})*$`;

/** What a name must be, as the rest of a sentence. */
export const NAME_RULE = 'text on one line that is not blank, without control characters and invisible marks';

/** Tags and their neighbours, which nothing draws, and halves of characters. No class names them for engines that read halves. */
const BEYOND = String.raw`\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}\ud800-\udfff`;
const pattern = new RegExp(NAME_PATTERN, 'u');
const beyond = new RegExp(`[${BEYOND}]`, 'u');

/** Whether a text is a name: one of the pattern, without tags and halves of characters. */
export const isName = (text: string): boolean => pattern.test(text) && !beyond.test(text);

const unseen = new RegExp(`(?:(?!${TAKEN})[${UNSEEN}${BEYOND}])+`, 'gu');

/** Makes a name of a text that is not refused: blanks take the place of what a name may not hold. What would be blank is empty. */
export function cleanName(text: string): string {
  const cleaned = text.replace(unseen, ' ').trim();
  return isName(cleaned) ? cleaned : '';
}
