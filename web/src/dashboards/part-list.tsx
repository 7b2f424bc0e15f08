import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { useDragAndDrop } from 'react-aria-components/useDragAndDrop';
import type { ChartListed } from '../charts/queries.ts';
import type { TableListed } from '../experiments/queries.ts';
import { NotYet } from '../ui/not-yet.tsx';
import { Options } from '../ui/options.tsx';
import { TakeButton } from '../ui/take-button.tsx';
import { words } from '../words.ts';
import { HEIGHTS, heightOf, inOrder, placeInOrder, spanOf, widthOf, WIDTHS, type Height, type Width } from './arrange.ts';
import { tableOf } from './filters.ts';
import type { Widget } from './queries.ts';
import { wordsIn } from './rich-text.tsx';

const said = words.dashboards.form;
const editorFile = queryOptions({ queryKey: ['file', 'dashboards/editor'], queryFn: () => import('./editor.tsx'), staleTime: 'static' });

interface PartListProps {
  widgets: readonly Widget[];
  columns: number;
  charts: readonly ChartListed[];
  tables: readonly TableListed[];
  change: (widgets: Widget[]) => void;
}

/** What a part is called in the list. */
function nameOf(widget: Widget, { charts, tables }: Pick<PartListProps, 'charts' | 'tables'>): string {
  const kind = words.dashboards.kinds[widget.type];
  const named = {
    visualization: () => charts.find(({ id }) => widget.type === 'visualization' && id === widget.config.visualizationId)?.name,
    richText: () => (widget.type === 'richText' ? wordsIn(widget.config.html).slice(0, 40) : undefined),
    table: () => (widget.type === 'table' ? tableOf(tables, widget.config.tableName)?.displayName : undefined),
    filter: () => (widget.type === 'filter' ? widget.config.column : undefined),
  }[widget.type]();
  return named === undefined || named === '' ? kind : `${kind}: ${named}`;
}

function SizeFields({
  widget,
  name,
  columns,
  change,
}: {
  widget: Widget;
  name: string;
  columns: number;
  change: (widget: Widget) => void;
}) {
  const { colSpan, rowSpan } = widget.layout;
  const [width, height] = [widthOf(colSpan, columns), heightOf(rowSpan)];
  const resize = (layout: Partial<Widget['layout']>) => change({ ...widget, layout: { ...widget.layout, ...layout } });
  return (
    <>
      <select
        className="input"
        aria-label={said.width(name)}
        value={width ?? ''}
        onChange={({ target }) => resize({ colSpan: spanOf(target.value as Width, columns) })}
      >
        {width === undefined ? <option value="">{said.asItIs}</option> : null}
        <Options texts={(Object.keys(WIDTHS) as Width[]).map((each) => [each, said.widths[each]])} />
      </select>
      <select
        className="input"
        aria-label={said.height(name)}
        value={height ?? ''}
        onChange={({ target }) => resize({ rowSpan: HEIGHTS[target.value as Height] })}
      >
        {height === undefined ? <option value="">{said.asItIs}</option> : null}
        <Options texts={(Object.keys(HEIGHTS) as Height[]).map((each) => [each, said.heights[each]])} />
      </select>
    </>
  );
}

/** The parts of a dashboard, to be moved by pointer or keyboard, resized, and taken off. */
export function PartList({ widgets, columns, charts, tables, change }: PartListProps) {
  const [written, setWritten] = useState<string>();
  const ordered = inOrder(widgets);
  const arrange = (next: readonly Widget[]) => change(placeInOrder(next, columns));
  const replace = (next: Widget) => arrange(ordered.map((each) => (each.id === next.id ? next : each)));
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ 'text/plain': String(key) })),
    onReorder: ({ keys, target }) => {
      const moved = ordered.filter(({ id }) => keys.has(id));
      const rest = ordered.filter(({ id }) => !keys.has(id));
      const at = rest.findIndex(({ id }) => id === target.key) + (target.dropPosition === 'after' ? 1 : 0);
      arrange([...rest.slice(0, at), ...moved, ...rest.slice(at)]);
    },
  });
  const text = ordered.find(({ id }) => id === written);
  const editor = useQuery({ ...editorFile, enabled: text !== undefined });
  return (
    <div className="stack">
      <GridList
        className="part-list"
        aria-label={said.parts}
        items={ordered}
        dependencies={[charts, tables, columns, written]}
        dragAndDropHooks={dragAndDropHooks}
        keyboardNavigationBehavior="tab"
      >
        {(widget) => {
          const name = nameOf(widget, { charts, tables });
          return (
            <GridListItem id={widget.id} textValue={name} className="part-item">
              <Button slot="drag" className="button bare" aria-label={said.move(name)}>
                ≡
              </Button>
              <span className="part-name">{name}</span>
              <SizeFields widget={widget} name={name} columns={columns} change={replace} />
              {widget.type === 'richText' ? (
                <button
                  type="button"
                  className="button"
                  aria-expanded={widget.id === written}
                  onClick={() => setWritten(widget.id === written ? undefined : widget.id)}
                >
                  {widget.id === written ? words.dashboards.text.done : words.dashboards.text.edit}
                </button>
              ) : null}
              <TakeButton
                className="button"
                aria-label={said.takeOf(name)}
                onClick={() => arrange(ordered.filter(({ id }) => id !== widget.id))}
              >
                {said.take}
              </TakeButton>
            </GridListItem>
          );
        }}
      </GridList>
      <p className="hint">{said.partsHint}</p>
      {text?.type === 'richText' ? (
        editor.data === undefined ? (
          <NotYet error={editor.error} refetch={editor.refetch} />
        ) : (
          <editor.data.TextEditor
            key={text.id}
            id="text-editor"
            html={text.config.html}
            change={(html) => change(widgets.map((each) => (each.id === text.id ? { ...text, config: { html } } : each)))}
          />
        )
      ) : null}
    </div>
  );
}
