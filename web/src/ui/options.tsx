import type { ReactNode } from 'react';

/** What can be chosen in a list, and its words. */
export type Texts = readonly (readonly [value: string, text: ReactNode])[];

/** The options of a list, in their order. */
export const Options = ({ texts = [] }: { texts: Texts | undefined }) =>
  texts.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
