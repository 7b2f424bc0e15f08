/** What the library holds, as its addresses say it. */
export const KINDS = ['macros', 'protocols', 'workbooks'] as const;
export type Kind = (typeof KINDS)[number];

export const isKind = (text: string): text is Kind => KINDS.some((kind) => kind === text);

export const MACRO_LANGUAGES = ['python', 'r', 'javascript'] as const;
export type MacroLanguage = (typeof MACRO_LANGUAGES)[number];

export const FAMILIES = ['generic', 'multispeq', 'ambyte', 'minipar', 'ambit'] as const;
export type Family = (typeof FAMILIES)[number];
