import { useNavigate } from '@tanstack/react-router';
import { api, queryClient } from '../api.ts';
import { tablesQuery } from '../experiments/queries.ts';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { words } from '../words.ts';
import { heldRowsKey } from './queries.ts';

const said = words.table;

/** Deletes an uploaded table, after a question. */
export function RemoveTable({ id, table, name }: { id: string; table: string; name: string }) {
  const navigate = useNavigate();
  return (
    <AskFirst
      action={said.remove}
      question={said.removeAsk(name)}
      consequence={said.removeText}
      perform={async () => {
        await api.DELETE('/api/v1/experiments/{id}/data/tables/{tableId}', { params: { path: { id, tableId: table } } });
        await navigate({ to: '/experiments/$id', params: { id } });
        await queryClient.invalidateQueries({ queryKey: tablesQuery(id).queryKey });
        // the way back leads to a page that would show what is still held of it
        queryClient.removeQueries({ queryKey: heldRowsKey(id) });
        sayDone(said.removed);
      }}
    />
  );
}
