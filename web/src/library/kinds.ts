/** What the library holds, as its addresses say it. */
export const KINDS = ['macros', 'protocols', 'workbooks'] as const;
export type Kind = (typeof KINDS)[number];

/** The page of one thing of each kind. */
export const PAGES = {
  macros: '/library/macros/$macro',
  protocols: '/library/protocols/$protocol',
  workbooks: '/library/workbooks/$workbook',
} as const satisfies Record<Kind, string>;

export const isKind = (text: string): text is Kind => KINDS.some((kind) => kind === text);

export const MACRO_LANGUAGES = ['python', 'r', 'javascript'] as const;
export type MacroLanguage = (typeof MACRO_LANGUAGES)[number];

export const FAMILIES = ['generic', 'multispeq', 'ambyte', 'minipar', 'ambit'] as const;
export type Family = (typeof FAMILIES)[number];
