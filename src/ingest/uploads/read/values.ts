const MOST_LETTERS = 100;
/** What letters there may be in a number, a day or a time: months, an exponent, half of the day, T and Z. */
const LETTERS =
  /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*|(?<=[\d.,])e(?=[+\-−]?\d)|(?<=\d)t(?=\d)|(?<=\d) ?(?:z|[ap]m)$/gi;

/** Whether a text of a file seems to be a number, a day or a time, however it is written. The engine reads it more closely. */
export const isValueLike = (text: string): boolean =>
  text.length <= MOST_LETTERS && /\d/.test(text) && /^[\d\s.,:/+\-−'’]*$/.test(text.trim().replace(LETTERS, ' '));
