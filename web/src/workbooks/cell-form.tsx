import { useState } from 'react';
import { CodeEditor } from '../code/editor.tsx';
import { findJsonProblem, readExactly } from '../code/json.ts';
import { choicesQuery, type Listed } from '../library/queries.ts';
import { ChoiceField } from '../ui/choice.tsx';
import { words } from '../words.ts';
import { macroPayload, protocolPayload, type CellOf } from './cells.ts';
import { Choose, Line, Lines } from './controls.tsx';
import type { Cell, CellType } from './queries.ts';
import '../charts/charts.css';

const said = words.workbooks;

interface CellProps<Type extends CellType> {
  cell: CellOf<Type>;
  position: number;
  /** Undefined for whoever may not write. */
  change: ((cell: Cell) => void) | undefined;
}

function QuestionForm({ cell, position, change }: CellProps<'question'>) {
  const { question } = cell;
  const isDisabled = change === undefined;
  return (
    <>
      <Line
        id={`cell-${position}-name`}
        label={said.label}
        value={cell.name}
        isDisabled={isDisabled}
        onChange={(name) => change?.({ ...cell, name })}
      />
      <Line
        id={`cell-${position}-text`}
        label={said.asked}
        value={question.text}
        isDisabled={isDisabled}
        onChange={(text) => change?.({ ...cell, question: { ...question, text } })}
      />
      <Choose
        id={`cell-${position}-kind`}
        label={said.kind}
        value={question.kind}
        texts={said.kinds}
        isDisabled={isDisabled}
        onChange={(next) => {
          const { text, required } = question;
          const kind = next as typeof question.kind;
          const asked = kind === 'multi_choice' ? { kind, text, required, options: ['yes', 'no'] } : { kind, text, required };
          change?.({ ...cell, question: asked });
        }}
      />
      {question.kind === 'multi_choice' ? (
        <Lines
          id={`cell-${position}-options`}
          label={said.options}
          value={question.options.join('\n')}
          isDisabled={isDisabled}
          onChange={(text) => change?.({ ...cell, question: { ...question, options: text.split('\n') } })}
        />
      ) : null}
      <label className="check">
        <input
          type="checkbox"
          checked={question.required}
          disabled={isDisabled}
          onChange={(event) => change?.({ ...cell, question: { ...question, required: event.target.checked } })}
        />
        {said.required}
      </label>
    </>
  );
}

interface NamedProps {
  kind: 'protocol' | 'macro';
  position: number;
  chosen: string;
  name: string;
  isDisabled: boolean;
  choose: (chosen: Listed) => void;
  rename: (name: string) => void;
}

/** A cell that names a protocol or a macro. */
function NamedForm({ kind, position, chosen, name, isDisabled, choose, rename }: NamedProps) {
  return (
    <>
      <ChoiceField
        id={`cell-${position}-${kind}`}
        label={said[kind]}
        ask={(find) => choicesQuery(kind === 'protocol' ? 'protocols' : 'macros', find)}
        chosen={{ id: chosen, name: name === '' ? chosen : name }}
        isDisabled={isDisabled}
        choose={(found) => found && choose(found)}
      />
      <Line id={`cell-${position}-name`} label={said.name} value={name} isDisabled={isDisabled} onChange={rename} />
    </>
  );
}

/** Why a text is not the cell that it began as; null when it is. */
function findProblem(text: string, { id, type }: Cell): string | null {
  const problem = findJsonProblem(text);
  if (problem !== null) return `${said.notJson} ${words.library.code.at(problem.line, problem.message)}`;
  const read = readExactly(text);
  const isSame = typeof read === 'object' && read !== null && 'id' in read && read.id === id && 'type' in read && read.type === type;
  return isSame ? null : said.otherCell;
}

/** A cell as the JSON that the API takes. A text that is not the cell yet is kept until it is, or until the cell is another. */
function JsonForm({ cell, position, change }: CellProps<CellType>) {
  const [typed, setTyped] = useState<{ text: string; of: string }>();
  const printed = JSON.stringify(cell, null, 2);
  const text = typed?.of === printed ? typed.text : printed;
  const problem = findProblem(text, cell);
  return (
    <>
      <CodeEditor
        label={`${said.json}, ${position}`}
        text={text}
        language="json"
        isReadOnly={change === undefined}
        onChange={(next) => {
          const written = findProblem(next, cell) === null ? (readExactly(next) as Cell) : cell;
          setTyped({ text: next, of: JSON.stringify(written, null, 2) });
          if (written !== cell) change?.(written);
        }}
      />
      {problem === null ? null : (
        <p className="field-error" role="status">
          {problem}
        </p>
      )}
    </>
  );
}

/** How a condition names a cell that has a result, and what people call it. */
function sourceOf(cell: Cell): string[] {
  if (cell.type === 'question') return [`${cell.id} (${cell.name})`];
  return cell.type === 'protocol' || cell.type === 'macro' ? [`${cell.id} (${cell.payload.name ?? ''})`] : [];
}

/** What a cell holds, by its type. `before`: the cells before it. */
export function CellForm({ cell, position, change, before }: CellProps<CellType> & { before: readonly Cell[] }) {
  const isDisabled = change === undefined;
  switch (cell.type) {
    case 'markdown':
      return (
        <Lines
          id={`cell-${position}-text`}
          label={said.text}
          value={cell.content}
          rows={4}
          isDisabled={isDisabled}
          onChange={(content) => change?.({ ...cell, content })}
        />
      );
    case 'question':
      return <QuestionForm cell={cell} position={position} change={change} />;
    case 'protocol':
      return (
        <NamedForm
          kind="protocol"
          position={position}
          chosen={cell.payload.protocolId}
          name={cell.payload.name ?? ''}
          isDisabled={isDisabled}
          choose={(chosen) => change?.({ ...cell, payload: protocolPayload(chosen) })}
          rename={(name) => change?.({ ...cell, payload: { ...cell.payload, name } })}
        />
      );
    case 'macro':
      return (
        <NamedForm
          kind="macro"
          position={position}
          chosen={cell.payload.macroId}
          name={cell.payload.name ?? ''}
          isDisabled={isDisabled}
          choose={(chosen) => change?.({ ...cell, payload: macroPayload(chosen) })}
          rename={(name) => change?.({ ...cell, payload: { ...cell.payload, name } })}
        />
      );
    case 'command':
      return (
        <>
          <Choose
            id={`cell-${position}-format`}
            label={said.format}
            value={cell.payload.format}
            texts={said.formats}
            isDisabled={isDisabled}
            onChange={(format) => change?.({ ...cell, payload: { ...cell.payload, format: format as keyof typeof said.formats } })}
          />
          <Lines
            id={`cell-${position}-content`}
            label={said.content}
            value={cell.payload.content}
            isDisabled={isDisabled}
            onChange={(content) => change?.({ ...cell, payload: { ...cell.payload, content } })}
          />
        </>
      );
    case 'branch':
      return (
        <>
          <JsonForm cell={cell} position={position} change={change} />
          <p className="hint">{said.branchHint(before.flatMap(sourceOf).join(', '))}</p>
        </>
      );
    case 'output':
      return <JsonForm cell={cell} position={position} change={change} />;
  }
}
