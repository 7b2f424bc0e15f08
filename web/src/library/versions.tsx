import { CodeDifference } from '../code/difference.tsx';
import type { CodeLanguage } from '../code/language.ts';
import { momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';

const said = words.library.versions;

export interface Version {
  version: number;
  createdByName: string | null;
  createdAt: string;
}

interface VersionsProps {
  /** Newest first. */
  versions: readonly Version[] | undefined;
  before: number;
  /** Undefined for what is written now. */
  after: number | undefined;
  /** The texts of both versions. */
  old: string | undefined;
  next: string | undefined;
  language: CodeLanguage;
  error: unknown;
  choose: (which: 'before' | 'after', version: number | undefined) => void;
  /** Puts the older one into the editor; undefined for whoever may not write. */
  take: (() => void) | undefined;
}

/** The versions of a code, and what changed between two of them. */
export function VersionsPanel({ versions, before, after, old, next, language, error, choose, take }: VersionsProps) {
  const options = versions?.map(({ version, createdByName, createdAt }) => (
    <option key={version} value={version}>
      {createdByName === null ? said.when(version, momentText(createdAt)) : said.fact(version, createdByName, momentText(createdAt))}
    </option>
  ));
  const read = (text: string) => (text === '' ? undefined : Number(text));
  const nameOf = (version: number | undefined) => (version === undefined ? said.written : words.library.code.version(version));
  return (
    <section className="panel" aria-labelledby="versions">
      <h2 id="versions">{said.title}</h2>
      <p className="small quiet">{versions?.length === 1 ? said.one : said.lead}</p>
      <div className="library-bar">
        <div className="field wide">
          <label htmlFor="version-before">{said.before}</label>
          <select id="version-before" className="input" value={before} onChange={(event) => choose('before', read(event.target.value))}>
            {options}
          </select>
        </div>
        <div className="field wide">
          <label htmlFor="version-after">{said.after}</label>
          <select id="version-after" className="input" value={after ?? ''} onChange={(event) => choose('after', read(event.target.value))}>
            <option value="">{said.written}</option>
            {options}
          </select>
        </div>
        {take === undefined || old === undefined ? null : (
          <button type="button" className="button" onClick={take}>
            {said.take(before)}
          </button>
        )}
      </div>
      <Problem error={error} />
      {old === undefined || next === undefined ? null : old === next ? (
        <p className="quiet" role="status">
          {said.same}
        </p>
      ) : (
        <CodeDifference label={said.difference(nameOf(before), nameOf(after))} before={old} after={next} language={language} />
      )}
    </section>
  );
}
