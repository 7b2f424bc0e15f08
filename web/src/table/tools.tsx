import { Button } from 'react-aria-components/Button';
import { DialogTrigger } from 'react-aria-components/Dialog';
import { Popover } from 'react-aria-components/Popover';
import { useState, type MouseEvent, type ReactNode } from 'react';
import { words } from '../words.ts';
import { AggregateForm } from './aggregate-form.tsx';
import { ColumnsForm } from './columns-form.tsx';
import { FilterForm } from './filter-form.tsx';
import { sentenceOf } from './operators.ts';
import type { Filter } from './search.ts';
import type { ToolProps } from './tool.ts';
import { VersionForm } from './version-form.tsx';

const said = words.table;

/** A button that opens a form beside it. The popover is the dialog, so that nothing of it stands outside. */
function Tool({ label, look = 'button', children }: { label: string; look?: string; children: (close: () => void) => ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button className={look}>{label}</Button>
      <Popover className="popover" placement="bottom start" aria-label={label}>
        {children(() => setOpen(false))}
      </Popover>
    </DialogTrigger>
  );
}

/** Gives the focus to the first tool, where the one that was pressed goes from the page. */
const goToFirst = ({ currentTarget }: MouseEvent) => currentTarget.closest('.tools')?.querySelector('button')?.focus();

/** What can be done to the question: filter, choose columns, aggregate, go back in time. */
export function Tools(props: ToolProps) {
  const { search, columns, change } = props;
  const filters = search.filters ?? [];
  const without = (at: number) => {
    const rest = filters.filter((_, index) => index !== at);
    change({ filters: rest.length === 0 ? undefined : rest });
  };
  const replaced = (at: number, filter: Filter) => change({ filters: filters.map((each, index) => (index === at ? filter : each)) });
  const shownColumns = search.columns?.length ?? columns.length;
  return (
    <div className="tools">
      <Tool label={said.filters.add}>
        {(close) => (
          <FilterForm
            {...props}
            take={(filter) => {
              change({ filters: [...filters, filter] });
              close();
            }}
          />
        )}
      </Tool>
      {search.aggregation === undefined ? (
        <Tool label={`${said.columns.button} ${said.columns.shown(shownColumns, columns.length)}`}>
          {(close) => <ColumnsForm {...props} close={close} />}
        </Tool>
      ) : null}
      <Tool label={said.aggregate.button}>{(close) => <AggregateForm {...props} close={close} />}</Tool>
      {search.aggregation === undefined ? null : (
        <button
          type="button"
          className="button"
          onClick={(event) => {
            goToFirst(event);
            change({ aggregation: undefined, orderBy: undefined, orderDirection: undefined });
          }}
        >
          {said.aggregate.clear}
        </button>
      )}
      <Tool label={`${said.version.label}: ${search.asOf === undefined ? said.version.newest : search.asOf}`}>
        {(close) => <VersionForm {...props} close={close} />}
      </Tool>
      {filters.map((filter, index) => {
        const sentence = sentenceOf(filter);
        return (
          <span key={sentence} className="filter">
            <Tool label={sentence} look="filter-sentence">
              {(close) => (
                <FilterForm
                  {...props}
                  begun={filter}
                  take={(changed) => {
                    replaced(index, changed);
                    close();
                  }}
                />
              )}
            </Tool>
            <button
              type="button"
              aria-label={said.filters.remove(sentence)}
              onClick={(event) => {
                goToFirst(event);
                without(index);
              }}
            >
              ×
            </button>
          </span>
        );
      })}
    </div>
  );
}
