import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { api } from '../api.ts';
import type { Family, Kind, MacroLanguage } from './kinds.ts';
import { renewLibrary } from './queries.ts';

/** The first code of a macro. It runs on any measurement, and shows what goes in and what comes out. */
const FIRST_CODE: Readonly<Record<MacroLanguage, string>> = {
  python: "# json is the measurement; what is put into output becomes columns\noutput['members'] = len(json)\n",
  r: '# json is the measurement; what is put into output becomes columns\noutput$members <- length(json)\n',
  javascript: '// json is the measurement; what is put into output becomes columns\noutput.members = Object.keys(json).length;\n',
};

interface New {
  name: string;
  organizationId?: string;
  language: MacroLanguage;
  family: Family;
}

/** Makes something new of a kind, and answers its id. */
export async function makeListed(kind: Kind, { language, family, ...body }: New): Promise<string> {
  const { id } = await {
    macros: () => bodyOf(api.POST('/api/v1/macros', { body: { ...body, language, code: FIRST_CODE[language] } })),
    protocols: () => bodyOf(api.POST('/api/v1/protocols', { body: { ...body, family, code: [{}] } })),
    workbooks: () => bodyOf(api.POST('/api/v1/workbooks', { body: { ...body, cells: [] } })),
  }[kind]();
  await renewLibrary(kind, id);
  return id;
}
