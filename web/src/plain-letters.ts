/** A text without the marks of its letters: `Blätter & Größe` gives `Blatter & Grosse`. */
export const toPlainLetters = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .replaceAll('ß', 'ss');
