import { useQuery } from '@tanstack/react-query';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import type { AnswerTo } from '../../../clients/typescript/src/types.ts';
import { AnnotateForm } from '../annotations/form.tsx';
import { Annotations, type MayAnnotate } from '../annotations/list.tsx';
import { momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { Cell, textOf } from './cell.tsx';
import { lineageQuery, rowQuery, type DataColumn, type Row } from './queries.ts';

const said = words.table.detail;

interface RowShown {
  experimentId: string;
  table: string;
  row: string;
}

function linesOf({ source, macro, arrivedAt, tableVersion }: AnswerTo<'/api/v1/experiments/{id}/data/rows/{row}/lineage', 'get'>) {
  const lines: string[] = [];
  if (source !== null)
    lines.push([said.source[source.kind], source.path, said.position(source.position)].filter((part) => part !== null).join(', '));
  if (arrivedAt !== null) lines.push(said.arrived(momentText(arrivedAt)));
  if (macro !== null) lines.push(said.macro(macro.name ?? macro.id, macro.version ?? ''));
  if (tableVersion !== null) lines.push(said.version(tableVersion));
  return lines;
}

function Lineage({ experimentId, table, row }: RowShown) {
  const { data, error, isPending } = useQuery(lineageQuery(experimentId, table, row));
  if (isPending) return <p className="quiet">{words.waiting}</p>;
  if (error) return <Problem error={error} />;
  const lines = linesOf(data);
  return lines.length === 0 ? (
    <p className="quiet">{said.noLineage}</p>
  ) : (
    <ul>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

interface PartsProps extends RowShown {
  may: MayAnnotate;
  columns: readonly DataColumn[];
  values: Row;
}

/** The values of a row, where it came from, and what people said of it. */
function Parts({ experimentId, table, row, may, columns, values }: PartsProps) {
  return (
    <>
      <section className="stack" aria-labelledby="values">
        <h3 id="values">{said.values}</h3>
        <dl className="values">
          {columns
            .filter(({ name }) => name !== 'annotations')
            .map(({ name, type_name: type }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd title={textOf(values[name]) ?? ''}>
                  <Cell value={values[name]} type={type} />
                  {type === 'TIMESTAMP' && textOf(values[name]) !== null ? <span className="quiet">{words.table.inUtc}</span> : null}
                </dd>
              </div>
            ))}
        </dl>
      </section>
      <section className="stack" aria-labelledby="lineage">
        <h3 id="lineage">{said.lineage}</h3>
        <Lineage experimentId={experimentId} table={table} row={row} />
      </section>
      <section className="stack" aria-labelledby="annotations">
        <h3 id="annotations">{said.annotations}</h3>
        <Annotations experimentId={experimentId} value={values['annotations']} may={may} />
        {may.own ? <AnnotateForm rows={{ experimentId, table, rowIds: [row] }} /> : null}
      </section>
    </>
  );
}

/** Everything that is known of a row. */
export function RowDetail({ may, close, ...shown }: RowShown & { may: MayAnnotate; close: () => void }) {
  const { data, error, refetch } = useQuery(rowQuery(shown.experimentId, shown.table, shown.row));
  return (
    <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(isOpen) => (isOpen ? undefined : close())}>
      <Modal className="drawer">
        <Dialog>
          <div className="drawer-head">
            <Heading slot="title">{words.table.rowDetail}</Heading>
            <button type="button" className="button bare" aria-label={words.close} onClick={close}>
              ×
            </button>
          </div>
          <Problem error={error} retry={() => void refetch()} />
          {data === undefined ? (
            error === null ? (
              <p className="quiet" role="status">
                {words.waiting}
              </p>
            ) : null
          ) : data.values === null ? (
            <p>{said.gone}</p>
          ) : (
            <Parts {...shown} may={may} columns={data.columns} values={data.values} />
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
