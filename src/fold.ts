/** Letters that Unicode does not split into a plain letter and a mark, with the plain letters that people type for them. */
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
