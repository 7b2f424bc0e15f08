import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { DialogTrigger } from 'react-aria-components/Dialog';
import { Popover } from 'react-aria-components/Popover';
import { nameType } from '../experiments/columns.ts';
import type { TableListed } from '../experiments/queries.ts';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { InputField, SelectField } from '../ui/field.tsx';
import { Form, type Fields } from '../ui/form.tsx';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { TYPE_WORDS, type TypeWord } from './chosen.ts';
import { changeColumn, columnChangeQuery, renewTables, type ColumnChange, type UploadedColumn } from './queries.ts';

const said = words.upload.column;

interface ColumnToolProps {
  id: string;
  tableId: string;
  /** The column as the file's report has it. */
  reported: UploadedColumn;
  /** Columns that the table has now. */
  columns: TableListed['columns'];
}

function ColumnForm({ id, tableId, name, done }: { id: string; tableId: string; name: string; done: (change: ColumnChange) => void }) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: (body: { name?: string; type?: TypeWord }) => changeColumn({ id, tableId, name }, body),
    onSuccess: done,
  });
  const submit = ({ name: wanted = name, type = '' }: Fields) => {
    const chosen = TYPE_WORDS.find((each) => each === type);
    mutate({ ...(wanted === name ? {} : { name: wanted }), ...(chosen === undefined ? {} : { type: chosen }) });
  };
  return (
    <Form className="stack" send={submit}>
      <InputField id="column-name" label={said.name} name="name" required maxLength={255} defaultValue={name} autoComplete="off" />
      <SelectField id="column-type" label={said.type} name="type" defaultValue="">
        <option value="">{said.sameType}</option>
        <Options texts={TYPE_WORDS.map((each) => [each, words.upload.types[each]])} />
      </SelectField>
      <p className="hint">{said.hint}</p>
      <Problem error={error} />
      <SendButton type="submit" className="button primary" isSending={isPending}>
        {said.apply}
      </SendButton>
    </Form>
  );
}

/** How far a change is, and what became of the column. */
function ChangeState({ id, asked }: { id: string; asked: ColumnChange }) {
  const { data: change = asked, error } = useQuery(columnChangeQuery(id, asked.uploadTableId, asked.id));
  const { status, report, errorMessage } = change;
  useEffect(() => {
    if (status === 'completed') void renewTables(id);
  }, [status, id]);
  if (error !== null) return <Problem error={error} />;
  return (
    <p role="status" className="small">
      {status === 'failed'
        ? (errorMessage ?? said.failed)
        : report === undefined
          ? said.running
          : said.done(report.name, nameType(report.type), countText(report.missingValues), countText(report.oddValues))}
    </p>
  );
}

/** Gives a column of the table another name or type; shows nothing for columns that the table no longer has. */
export function ColumnTool({ id, tableId, reported, columns }: ColumnToolProps) {
  const [asked, setAsked] = useState<ColumnChange>();
  const [isOpen, setOpen] = useState(false);
  const name = asked?.name ?? asked?.column ?? reported.name;
  const isThere = columns.some((column) => column.name === name);
  return (
    <div className="stack">
      {isThere ? (
        <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
          <Button className="button" aria-label={said.changeOf(name)}>
            {said.change}
          </Button>
          <Popover className="popover" placement="bottom end" aria-label={said.changeOf(name)}>
            <ColumnForm
              id={id}
              tableId={tableId}
              name={name}
              done={(change) => {
                setAsked(change);
                setOpen(false);
              }}
            />
          </Popover>
        </DialogTrigger>
      ) : null}
      {asked === undefined ? null : <ChangeState id={id} asked={asked} />}
    </div>
  );
}
