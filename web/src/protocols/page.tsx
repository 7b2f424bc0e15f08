import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { CodeEditor } from '../code/editor.tsx';
import { findJsonProblem } from '../code/json.ts';
import type { CodeProblem } from '../code/language.ts';
import { AboutPanel } from '../library/about.tsx';
import { Behind } from '../library/behind.tsx';
import { CopyButton } from '../library/copy.tsx';
import { useDraft } from '../library/draft.ts';
import { LibraryHead, LibraryItem } from '../library/head.tsx';
import type { Family } from '../library/kinds.ts';
import { LinksPanel } from '../library/links.tsx';
import { useSaving } from '../library/saving.ts';
import { VersionsPanel } from '../library/versions.tsx';
import { WriteBar } from '../library/write-bar.tsx';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import {
  changeProtocol,
  copyProtocol,
  linkMacro,
  macrosQuery,
  protocolQuery,
  unlinkMacro,
  versionQuery,
  versionsQuery,
  type Protocol,
} from './queries.ts';

const route = getRouteApi('/guarded/library/protocols/$protocol');
const said = words.protocols;
const saidCode = words.library.code;

interface Written {
  code: string;
  family: Family;
}

/** Why a text is no protocol; null when it is one. */
const findProblem = (text: string): CodeProblem | null =>
  text.trim() === 'null' ? { line: 1, message: said.isNull } : findJsonProblem(text);

interface VersionsProps {
  protocol: Protocol;
  written: Written;
  take: ((text: Written) => void) | undefined;
}

function Versions({ protocol: { id, codeVersion }, written, take }: VersionsProps) {
  const { before = Math.max(1, codeVersion - 1), after } = route.useSearch();
  const navigate = route.useNavigate();
  const versions = useQuery(versionsQuery(id));
  const old = useQuery(versionQuery(id, before));
  const newer = useQuery({ ...versionQuery(id, after ?? 1), enabled: after !== undefined });
  const { data } = old;
  return (
    <VersionsPanel
      versions={versions.data}
      before={before}
      after={after}
      old={data?.code}
      next={after === undefined ? written.code : newer.data?.code}
      language="json"
      error={versions.error ?? old.error ?? newer.error}
      choose={(which, version) => void navigate({ search: (now) => ({ ...now, [which]: version }), replace: true, resetScroll: false })}
      take={take === undefined || data === undefined ? undefined : () => take(data)}
    />
  );
}

function ProtocolWork({ protocol, tag }: { protocol: Protocol; tag: string }) {
  const navigate = route.useNavigate();
  const { id, name, code, family, codeVersion, capabilities } = protocol;
  const mayWrite = capabilities?.canUpdate === true;
  const draft = useDraft<Written>({ code, family }, tag);
  const { value, isChanged } = draft;
  const [place, setPlace] = useState<CodeProblem>();
  const problem = useMemo(() => findProblem(value.code), [value.code]);
  const problems = useMemo(() => (problem === null ? [] : [problem]), [problem]);
  const saving = useSaving({
    kind: 'protocols',
    id,
    draft,
    tag,
    store: (withTag, written) => changeProtocol(id, withTag, written),
    says: ({ codeVersion: version }) => saidCode.saved(version),
  });
  const saveMine = (text: string) => {
    if (mayWrite && (isChanged || text !== code) && !saving.isSaving && findProblem(text) === null) saving.save({ ...value, code: text });
  };
  return (
    <>
      <section className="panel" aria-labelledby="code">
        <header>
          <h2 id="code">{saidCode.title}</h2>
          <span className="small quiet">{saidCode.version(codeVersion)}</span>
        </header>
        <p className="small quiet">{said.json}</p>
        <CodeEditor
          label={saidCode.of(name)}
          text={value.code}
          language="json"
          isReadOnly={!mayWrite}
          problems={problems}
          goTo={place}
          onChange={(next) => draft.change({ ...value, code: next })}
          onSave={saveMine}
        />
        {problem === null ? null : (
          <div className="notice problem" role="status">
            <p>{said.notJson}</p>
            <p className="small">{saidCode.at(problem.line, problem.message)}</p>
            <p>
              <button type="button" className="button" onClick={() => setPlace({ ...problem })}>
                {saidCode.goTo(problem.line)}
              </button>
            </p>
          </div>
        )}
        {mayWrite ? (
          <WriteBar
            trait={{
              id: 'protocol-family',
              label: words.library.family,
              value: value.family,
              names: words.library.families,
              choose: (next: Family) => draft.change({ ...value, family: next }),
            }}
            isChanged={isChanged}
            isSending={saving.isSaving}
            isSound={problem === null}
            save={() => saveMine(value.code)}
            drop={draft.drop}
            hint={''}
          />
        ) : (
          <CopyButton
            name={protocol.name}
            copy={(copied) => copyProtocol(protocol, copied)}
            open={(made) => navigate({ to: '/library/protocols/$protocol', params: { protocol: made } })}
          />
        )}
        {saving.isBehind ? (
          <Behind theirs={code} mine={value.code} language="json" isSending={saving.isSaving} save={saving.saveOver} drop={draft.drop} />
        ) : (
          <Problem error={saving.error} />
        )}
      </section>
      <Versions protocol={protocol} written={value} take={mayWrite ? draft.change : undefined} />
    </>
  );
}

function ProtocolMacros({ protocol: { id, capabilities } }: { protocol: Protocol }) {
  const { data, error, refetch } = useQuery(macrosQuery(id));
  return (
    <LinksPanel
      kind="macros"
      links={data?.map(({ macro }) => ({ ...macro, trait: words.library.languages[macro.language] }))}
      error={error}
      retry={() => void refetch()}
      mayWrite={capabilities?.canUpdate === true}
      link={(macroId) => linkMacro(id, macroId)}
      unlink={(macroId) => unlinkMacro(id, macroId)}
    />
  );
}

/** A protocol: its code, its versions, the macros that read it, and what it is for. */
export function ProtocolPage() {
  const { protocol: id } = route.useParams();
  return (
    <LibraryItem key={id} kind="protocols" asked={useQuery(protocolQuery(id))}>
      {({ protocol, tag }) => (
        <>
          <LibraryHead kind="protocols" item={protocol} trait={words.library.families[protocol.family]} />
          <ProtocolWork protocol={protocol} tag={tag} />
          <div className="library-work">
            <ProtocolMacros protocol={protocol} />
            <AboutPanel kind="protocols" item={protocol} tag={tag} change={(begun, patch) => changeProtocol(id, begun, patch)} />
          </div>
        </>
      )}
    </LibraryItem>
  );
}
