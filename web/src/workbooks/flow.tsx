import { useQuery } from '@tanstack/react-query';
import { CodeEditor } from '../code/editor.tsx';
import { findJsonProblem, readExactly } from '../code/json.ts';
import { Behind } from '../library/behind.tsx';
import { useDraft } from '../library/draft.ts';
import { useSaving } from '../library/saving.ts';
import { Problem } from '../shell/problem.tsx';
import { LeaveQuestion } from '../ui/leave-question.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { titleOf } from './steps.ts';
import { renewAttached, saveFlow, taggedFlowQuery, type FlowGraph } from './queries.ts';
import './workbooks.css';

const said = words.workbooks.attached;

/** What the editor begins with where there is no flow. */
const FIRST: FlowGraph = {
  nodes: [{ id: 'start', type: 'instruction', name: 'Begin', content: { text: 'Begin here.' }, isStart: true }],
  edges: [],
};

function Steps({ graph: { nodes, edges } }: { graph: FlowGraph }) {
  const nameOf = (id: string) => {
    const found = nodes.find((node) => node.id === id);
    return found === undefined ? id : titleOf(found);
  };
  return (
    <ol className="flow-steps">
      {nodes.map((node) => {
        const { id, type, isStart } = node;
        const ways = edges.filter(({ source }) => source === id);
        return (
          <li key={id}>
            {titleOf(node)} <span className="tag">{said.nodeTypes[type]}</span>{' '}
            {isStart ? <span className="small quiet">{said.start}</span> : null}{' '}
            {ways.length > 1 ? (
              <span className="small quiet">
                {said.next(
                  ways
                    .map(({ label, target }) => `${label === null || label === undefined ? '' : `${label}: `}${nameOf(target)}`)
                    .join('; '),
                )}
              </span>
            ) : null}
          </li>
        );
      })}
    </ol>
  );
}

interface FlowFormProps {
  id: string;
  graph: FlowGraph | undefined;
  /** Tag of the stored flow; empty without one. */
  tag: string;
}

function FlowForm({ id, graph, tag }: FlowFormProps) {
  const stored = JSON.stringify(graph ?? FIRST, null, 2);
  const draft = useDraft(stored, tag);
  const problem = findJsonProblem(draft.value);
  const saving = useSaving({
    draft,
    tag,
    store: (withTag, text) => saveFlow(id, readExactly(text) as FlowGraph, withTag),
    says: () => said.saved,
    renew: () => renewAttached(id),
  });
  return (
    <div className="stack">
      <CodeEditor label={said.flowCode} text={draft.value} language="json" onChange={draft.change} />
      {problem === null ? null : (
        <p className="field-error" role="status">
          {words.workbooks.notJson} {words.library.code.at(problem.line, problem.message)}
        </p>
      )}
      <div className="library-bar">
        <LeaveQuestion isDirty={draft.isChanged} />
        <SendButton
          className="button primary"
          isSending={saving.isSaving}
          isIdle={(!draft.isChanged && graph !== undefined) || problem !== null}
          onClick={() => {
            // the first flow may be what the editor began with, and is kept too when somebody else gave another
            draft.change(draft.value);
            saving.save(draft.value);
          }}
        >
          {words.library.save}
        </SendButton>
        {draft.isChanged ? (
          <button type="button" className="button" onClick={saving.drop}>
            {words.library.code.drop}
          </button>
        ) : null}
      </div>
      {saving.told === undefined ? (
        <Problem error={saving.error} />
      ) : (
        <Behind theirs={stored} mine={draft.value} language="json" told={saving.told} saving={saving} />
      )}
    </div>
  );
}

/** The flow that a person walks through in the field; managers write it. */
export function FlowPanel({ id, mayWrite, isWritten }: { id: string; mayWrite: boolean; isWritten: boolean }) {
  const { data, error, refetch } = useQuery(taggedFlowQuery(id));
  return (
    <section className="panel" aria-labelledby="flow">
      <h2 id="flow">{said.flow}</h2>
      <p className="small quiet">{said.flowLead}</p>
      <Problem error={error} retry={() => void refetch()} />
      {data === undefined ? null : data === null ? <p className="quiet">{said.noFlow}</p> : <Steps graph={data.graph} />}
      {mayWrite && data !== undefined ? (
        <details>
          <summary>{said.edit}</summary>
          {isWritten ? <p className="small quiet">{said.flowFromWorkbook}</p> : null}
          <FlowForm key={id} id={id} graph={data?.graph} tag={data?.tag ?? ''} />
        </details>
      ) : null}
    </section>
  );
}
