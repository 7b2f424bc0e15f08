import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { experimentQuery, type TableListed } from '../experiments/queries.ts';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sentenceOf } from '../table/operators.ts';
import { questionOf } from '../table/question.ts';
import type { TableSearch } from '../table/search.ts';
import { SelectField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { ExportItem } from './item.tsx';
import { exportQuery, FORMATS, startExport, type ExportFormat, type NewExport } from './queries.ts';

const said = words.exports;

interface ExportShown {
  id: string;
  table: TableListed;
  search: TableSearch;
  /** The version that the grid shows. */
  version: number;
}

/** What the grid shows, in sentences. */
function sentencesOf({ table, search, version }: ExportShown): string[] {
  const { columns, filters = [], aggregation, orderBy, orderDirection = 'ASC' } = search;
  const all = table.columns.length;
  return [
    aggregation === undefined ? said.what.columns(columns?.length ?? all, all) : said.what.aggregate,
    ...(filters.length === 0 ? [said.what.every] : filters.map(sentenceOf)),
    ...(orderBy === undefined ? [] : [said.what.order(orderBy, orderDirection)]),
    said.what.version(countText(version)),
  ];
}

function ExportForm({ shown, start, isBusy }: { shown: ExportShown; start: (asked: NewExport) => void; isBusy: boolean }) {
  const { id, table, search, version } = shown;
  const { experiment, capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const [format, setFormat] = useState<ExportFormat>('csv');
  const isAnonymised = experiment.anonymizeContributors;
  const submit = (_fields: Fields, form: HTMLFormElement) => {
    const fields = new FormData(form);
    const wantsPseudonyms = fields.has('pseudonyms');
    const mayChoose = !isAnonymised || capabilities.canManage;
    start({
      ...questionOf(table.identifier, search),
      asOf: version,
      format,
      ...(format === 'csv' && fields.has('raw') ? { raw: true } : {}),
      ...(mayChoose && wantsPseudonyms !== isAnonymised ? { anonymizeContributors: wantsPseudonyms } : {}),
    });
  };
  return (
    <Form className="stack" send={submit}>
      <ul className="small export-what">
        {sentencesOf(shown).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <SelectField
        id="export-format"
        label={said.format}
        value={format}
        onChange={(event) => setFormat(FORMATS.find((each) => each === event.target.value) ?? 'csv')}
      >
        <Options texts={FORMATS.map((each) => [each, said.formats[each]])} />
      </SelectField>
      {isAnonymised && !capabilities.canManage ? null : (
        <label className="check">
          <input type="checkbox" name="pseudonyms" defaultChecked={isAnonymised} />
          {said.pseudonyms}
        </label>
      )}
      {format === 'csv' ? (
        <div>
          <label className="check">
            <input type="checkbox" name="raw" aria-describedby="export-raw" />
            {said.raw}
          </label>
          <p id="export-raw" className="hint">
            {said.rawHint}
          </p>
        </div>
      ) : null}
      <p>
        <SendButton type="submit" className="button primary" isSending={isBusy}>
          {said.start}
        </SendButton>
      </p>
    </Form>
  );
}

/** Asks for a file of what the grid shows, and follows it until it is there. */
function ExportSteps({ shown }: { shown: ExportShown }) {
  const { id, table } = shown;
  const { capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const { mutate, reset, data: exportId, isPending, error } = useMutation({ mutationFn: (asked: NewExport) => startExport(id, asked) });
  const followed = useQuery({ ...exportQuery(id, exportId ?? ''), enabled: exportId !== undefined });
  return (
    <div className="stack">
      {exportId === undefined ? (
        <ExportForm shown={shown} start={mutate} isBusy={isPending} />
      ) : (
        <>
          <ul className="rows" aria-live="polite">
            {followed.data === undefined ? null : (
              <ExportItem listed={followed.data} table={table.displayName} canManage={capabilities.canManage} />
            )}
          </ul>
          <p>
            <button type="button" className="button" onClick={reset}>
              {said.another}
            </button>
          </p>
        </>
      )}
      <Problem error={error ?? followed.error} adviceHere={said.advice} />
      <p className="small">
        <Link to="/experiments/$id/exports" params={{ id }} search={{ table: table.identifier }}>
          {said.all}
        </Link>
      </p>
    </div>
  );
}

/** The button that exports what the grid shows. */
export function ExportTool({ shown }: { shown: ExportShown }) {
  return (
    <DialogTrigger>
      <Button className="button">{said.button}</Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="drawer">
          <Dialog>
            <div className="drawer-head">
              <Heading slot="title">{said.form}</Heading>
              <Button slot="close" className="button bare">
                {words.close}
              </Button>
            </div>
            <ExportSteps shown={shown} />
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
