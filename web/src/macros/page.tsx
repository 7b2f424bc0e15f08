import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { CodeProblem } from '../code/language.ts';
import { AboutPanel } from '../library/about.tsx';
import { CodePanel } from '../library/code-panel.tsx';
import { CodeVersions } from '../library/code-versions.tsx';
import { useDraft } from '../library/draft.ts';
import { LibraryHead, LibraryItem } from '../library/head.tsx';
import type { MacroLanguage } from '../library/kinds.ts';
import { LinksPanel } from '../library/links.tsx';
import { renewLibrary } from '../library/queries.ts';
import { useSaving } from '../library/saving.ts';
import { words } from '../words.ts';
import {
  changeMacro,
  copyMacro,
  linkProtocol,
  listVersions,
  macroQuery,
  protocolsQuery,
  readVersion,
  unlinkProtocol,
  type Macro,
  type Written,
} from './queries.ts';
import { RunPanel, useRun } from './run.tsx';

const route = getRouteApi('/guarded/library/macros/$macro');
const said = words.macros;
const saidCode = words.library.code;

/** Why stored code would not start. */
function Warnings({ warnings, goTo }: { warnings: NonNullable<Macro['warnings']>; goTo: (problem: CodeProblem) => void }) {
  return (
    <div className="notice problem" role="alert">
      <p>{said.wouldNotStart}</p>
      <ul className="small">
        {warnings.map((warning) => (
          <li key={`${warning.line} ${warning.message}`}>
            {saidCode.at(warning.line, warning.message)}{' '}
            <button type="button" className="button bare" onClick={() => goTo({ ...warning })}>
              {saidCode.goTo(warning.line)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function MacroWork({ macro, tag }: { macro: Macro; tag: string }) {
  const { id, code, language } = macro;
  const draft = useDraft<Written>({ code, language }, tag);
  const { value, isChanged } = draft;
  const run = useRun(id, value, macro);
  const [place, setPlace] = useState<CodeProblem>();
  const saving = useSaving({
    draft,
    tag,
    store: (withTag, written) => changeMacro(id, withTag, { ...written }),
    says: ({ codeVersion }) => saidCode.saved(codeVersion),
    renew: () => renewLibrary('macros', id),
  });
  const warnings = isChanged ? undefined : saving.stored?.warnings;
  const failure = run.result?.failure;
  const problems = useMemo(
    () => [
      ...(failure?.line === undefined
        ? []
        : [{ line: failure.line, column: failure.column, message: `${failure.type}: ${failure.message}` }]),
      ...(warnings ?? []),
    ],
    [failure, warnings],
  );
  return (
    <>
      <div className="library-work">
        <CodePanel
          kind="macros"
          item={macro}
          language={value.language}
          draft={draft}
          saving={saving}
          trait={{
            id: 'macro-language',
            label: words.library.language,
            value: value.language,
            names: words.library.languages,
            choose: (next: MacroLanguage) => draft.change({ ...value, language: next }),
          }}
          hint={said.keys}
          problems={problems}
          place={place}
          run={run.start}
          copy={(copied) => copyMacro(macro, copied)}
        >
          {warnings === undefined || warnings.length === 0 ? null : <Warnings warnings={warnings} goTo={setPlace} />}
        </CodePanel>
        <RunPanel run={run} written={value} stored={macro} goTo={(line, column) => setPlace({ line, column, message: '' })} />
      </div>
      <CodeVersions kind="macros" item={macro} draft={draft} languageOf={(text) => text.language} list={listVersions} read={readVersion} />
    </>
  );
}

function MacroProtocols({ macro: { id, capabilities } }: { macro: Macro }) {
  return (
    <LinksPanel
      kind="protocols"
      asked={useQuery({
        ...protocolsQuery(id),
        select: (list) => list.map(({ protocol }) => ({ ...protocol, trait: words.library.families[protocol.family] })),
      })}
      mayWrite={capabilities?.canUpdate === true}
      link={(protocolId) => linkProtocol(id, protocolId)}
      unlink={(protocolId) => unlinkProtocol(id, protocolId)}
    />
  );
}

/** A macro: its code beside a run, its versions, its protocols, and what it is for. */
export function MacroPage() {
  const { macro: id } = route.useParams();
  return (
    <LibraryItem key={id} kind="macros" asked={useQuery(macroQuery(id))}>
      {({ macro, tag }) => (
        <>
          <LibraryHead kind="macros" item={macro} trait={words.library.languages[macro.language]} />
          <MacroWork macro={macro} tag={tag} />
          <div className="library-work">
            <MacroProtocols macro={macro} />
            <AboutPanel kind="macros" item={macro} tag={tag} change={(begun, patch) => changeMacro(id, begun, patch)} />
          </div>
        </>
      )}
    </LibraryItem>
  );
}
