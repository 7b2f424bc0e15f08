import type { ReactNode } from 'react';
import { CodeEditor } from '../code/editor.tsx';
import type { CodeLanguage, CodeProblem } from '../code/language.ts';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { Behind } from './behind.tsx';
import { CopyButton } from './copy.tsx';
import type { Draft } from './draft.ts';
import type { Kind } from './kinds.ts';
import type { Shared } from './queries.ts';
import type { Saving } from './saving.ts';
import { WriteBar, type Trait } from './write-bar.tsx';

const said = words.library.code;

interface CodePanelProps<T extends { code: string }, N extends string> {
  kind: Kind;
  /** What is stored. */
  item: Shared & { code: string; codeVersion: number };
  language: CodeLanguage;
  draft: Draft<T>;
  saving: Saving<T, unknown>;
  trait: Trait<N>;
  /** What is said above the code, and below it while nothing has changed. */
  lead?: string;
  hint?: string;
  problems: readonly CodeProblem[];
  place: CodeProblem | undefined;
  /** Whether a text may be saved as it is. */
  isSound?: (text: string) => boolean;
  run?: (text: string) => void;
  /** Makes a copy of one's own under a name, and answers its id. */
  copy: (name: string) => Promise<string>;
  /** What is wrong with the text. */
  children: ReactNode;
}

/** The code of a macro or of a protocol: whoever may change it writes and saves it, everybody else copies it. */
export function CodePanel<T extends { code: string }, N extends string>({
  kind,
  item: { name, code, codeVersion, capabilities },
  language,
  draft,
  saving,
  trait,
  lead,
  hint,
  problems,
  place,
  isSound = () => true,
  run,
  copy,
  children,
}: CodePanelProps<T, N>) {
  const { value, isChanged, change } = draft;
  const mayWrite = capabilities?.canUpdate === true;
  const save = (text: string) => {
    if (mayWrite && (isChanged || text !== code) && !saving.isSaving && isSound(text)) saving.save({ ...value, code: text });
  };
  return (
    <section className="panel" aria-labelledby="code">
      <header>
        <h2 id="code">{said.title}</h2>
        <span className="small quiet">{said.version(codeVersion)}</span>
      </header>
      {lead === undefined ? null : <p className="small quiet">{lead}</p>}
      <CodeEditor
        label={said.of(name)}
        text={value.code}
        language={language}
        isReadOnly={!mayWrite}
        problems={problems}
        goTo={place}
        onChange={(next) => change({ ...value, code: next })}
        onRun={run}
        onSave={save}
      />
      {children}
      {mayWrite ? (
        <WriteBar
          trait={trait}
          isChanged={isChanged}
          isSending={saving.isSaving}
          isSound={isSound(value.code)}
          save={() => save(value.code)}
          drop={saving.drop}
          hint={hint}
        />
      ) : (
        <CopyButton kind={kind} name={name} copy={copy} />
      )}
      {saving.told === undefined ? (
        <Problem error={saving.error} />
      ) : (
        <Behind theirs={code} mine={value.code} language={language} told={saving.told} saving={saving} />
      )}
    </section>
  );
}
