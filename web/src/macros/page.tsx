import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { CodeEditor } from '../code/editor.tsx';
import type { CodeProblem } from '../code/language.ts';
import { AboutPanel } from '../library/about.tsx';
import { Behind } from '../library/behind.tsx';
import { CopyButton } from '../library/copy.tsx';
import { useDraft } from '../library/draft.ts';
import { LibraryHead, LibraryItem } from '../library/head.tsx';
import type { MacroLanguage } from '../library/kinds.ts';
import { LinksPanel } from '../library/links.tsx';
import { useSaving } from '../library/saving.ts';
import { VersionsPanel } from '../library/versions.tsx';
import { WriteBar } from '../library/write-bar.tsx';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import {
  changeMacro,
  copyMacro,
  linkProtocol,
  macroQuery,
  protocolsQuery,
  unlinkProtocol,
  versionQuery,
  versionsQuery,
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

function Versions({
  id,
  codeVersion,
  written,
  take,
}: {
  id: string;
  codeVersion: number;
  written: Written;
  take: ((text: Written) => void) | undefined;
}) {
  const { before = Math.max(1, codeVersion - 1), after } = route.useSearch();
  const navigate = route.useNavigate();
  const versions = useQuery(versionsQuery(id));
  const old = useQuery(versionQuery(id, before));
  const newer = useQuery({ ...versionQuery(id, after ?? 1), enabled: after !== undefined });
  const next = after === undefined ? written : newer.data;
  const { data } = old;
  return (
    <VersionsPanel
      versions={versions.data}
      before={before}
      after={after}
      old={data?.code}
      next={next?.code}
      language={next?.language ?? written.language}
      error={versions.error ?? old.error ?? newer.error}
      choose={(which, version) => void navigate({ search: (now) => ({ ...now, [which]: version }), replace: true, resetScroll: false })}
      take={take === undefined || data === undefined ? undefined : () => take({ code: data.code, language: data.language })}
    />
  );
}

function MacroWork({ macro, tag }: { macro: Macro; tag: string }) {
  const navigate = route.useNavigate();
  const { id, name, code, language, codeVersion, capabilities } = macro;
  const mayWrite = capabilities?.canUpdate === true;
  const draft = useDraft<Written>({ code, language }, tag);
  const { value, isChanged } = draft;
  const run = useRun(id, value, macro);
  const [place, setPlace] = useState<CodeProblem>();
  const saving = useSaving({
    kind: 'macros',
    id,
    draft,
    tag,
    store: (withTag, written) => changeMacro(id, withTag, { ...written }),
    says: ({ codeVersion: version }) => saidCode.saved(version),
  });
  const saveMine = (text: string) => {
    if (mayWrite && (isChanged || text !== code) && !saving.isSaving) saving.save({ ...value, code: text });
  };
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
        <section className="panel" aria-labelledby="code">
          <header>
            <h2 id="code">{saidCode.title}</h2>
            <span className="small quiet">{saidCode.version(codeVersion)}</span>
          </header>
          <CodeEditor
            label={saidCode.of(name)}
            text={value.code}
            language={value.language}
            isReadOnly={!mayWrite}
            problems={problems}
            goTo={place}
            onChange={(next) => draft.change({ ...value, code: next })}
            onRun={run.start}
            onSave={saveMine}
          />
          {mayWrite ? (
            <WriteBar
              trait={{
                id: 'macro-language',
                label: words.library.language,
                value: value.language,
                names: words.library.languages,
                choose: (next: MacroLanguage) => draft.change({ ...value, language: next }),
              }}
              isChanged={isChanged}
              isSending={saving.isSaving}
              save={() => saveMine(value.code)}
              drop={draft.drop}
              hint={said.keys}
            />
          ) : (
            <CopyButton
              name={macro.name}
              copy={(copied) => copyMacro(macro, copied)}
              open={(made) => navigate({ to: '/library/macros/$macro', params: { macro: made } })}
            />
          )}
          {saving.isBehind ? (
            <Behind
              theirs={code}
              mine={value.code}
              language={value.language}
              isSending={saving.isSaving}
              save={saving.saveOver}
              drop={draft.drop}
            />
          ) : (
            <Problem error={saving.error} />
          )}
          {warnings === undefined || warnings.length === 0 ? null : <Warnings warnings={warnings} goTo={setPlace} />}
        </section>
        <RunPanel run={run} written={value} stored={macro} goTo={(line, column) => setPlace({ line, column, message: '' })} />
      </div>
      <Versions id={id} codeVersion={codeVersion} written={value} take={mayWrite ? draft.change : undefined} />
    </>
  );
}

function MacroProtocols({ macro: { id, capabilities } }: { macro: Macro }) {
  const { data, error, refetch } = useQuery(protocolsQuery(id));
  return (
    <LinksPanel
      kind="protocols"
      links={data?.map(({ protocol }) => ({ ...protocol, trait: words.library.families[protocol.family] }))}
      error={error}
      retry={() => void refetch()}
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
