/** Letters that no decomposition takes apart, as people write them who do not have them. */
const PLAIN: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  ς: 'σ',
};

const WITHOUT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'gu');

/** Text as it is compared: no accents, lower case, letters and digits with single spaces. */
export const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(WITHOUT_PLAIN, (letter) => PLAIN[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
