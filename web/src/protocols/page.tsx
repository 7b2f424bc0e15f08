import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { findJsonProblem } from '../code/json.ts';
import type { CodeProblem } from '../code/language.ts';
import { AboutPanel } from '../library/about.tsx';
import { CodePanel } from '../library/code-panel.tsx';
import { CodeVersions } from '../library/code-versions.tsx';
import { useDraft } from '../library/draft.ts';
import { LibraryHead, LibraryItem } from '../library/head.tsx';
import type { Family } from '../library/kinds.ts';
import { LinksPanel } from '../library/links.tsx';
import { renewLibrary } from '../library/queries.ts';
import { useSaving } from '../library/saving.ts';
import { words } from '../words.ts';
import {
  changeProtocol,
  copyProtocol,
  linkMacro,
  listVersions,
  macrosQuery,
  protocolQuery,
  readVersion,
  unlinkMacro,
  type Protocol,
  type Written,
} from './queries.ts';

const route = getRouteApi('/guarded/library/protocols/$protocol');
const said = words.protocols;
const saidCode = words.library.code;

/** Why a text is no protocol; null when it is one. */
const findProblem = (text: string): CodeProblem | null =>
  text.trim() === 'null' ? { line: 1, message: said.isNull } : findJsonProblem(text);

const isSound = (text: string) => findProblem(text) === null;

function ProtocolWork({ protocol, tag }: { protocol: Protocol; tag: string }) {
  const { id, code, family } = protocol;
  const draft = useDraft<Written>({ code, family }, tag);
  const { value } = draft;
  const [place, setPlace] = useState<CodeProblem>();
  const problem = useMemo(() => findProblem(value.code), [value.code]);
  const problems = useMemo(() => (problem === null ? [] : [problem]), [problem]);
  const saving = useSaving({
    draft,
    tag,
    store: (withTag, written) => changeProtocol(id, withTag, written),
    says: ({ codeVersion }) => saidCode.saved(codeVersion),
    renew: () => renewLibrary('protocols', id),
  });
  return (
    <>
      <CodePanel
        kind="protocols"
        item={protocol}
        language="json"
        draft={draft}
        saving={saving}
        trait={{
          id: 'protocol-family',
          label: words.library.family,
          value: value.family,
          names: words.library.families,
          choose: (next: Family) => draft.change({ ...value, family: next }),
        }}
        lead={said.json}
        problems={problems}
        place={place}
        isSound={isSound}
        copy={(copied) => copyProtocol(protocol, copied)}
      >
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
      </CodePanel>
      <CodeVersions kind="protocols" item={protocol} draft={draft} languageOf={() => 'json'} list={listVersions} read={readVersion} />
    </>
  );
}

function ProtocolMacros({ protocol: { id, capabilities } }: { protocol: Protocol }) {
  return (
    <LinksPanel
      kind="macros"
      asked={useQuery({
        ...macrosQuery(id),
        select: (list) => list.map(({ macro }) => ({ ...macro, trait: words.library.languages[macro.language] })),
      })}
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
