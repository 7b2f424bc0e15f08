import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { experimentQuery, tablesQuery } from '../experiments/queries.ts';
import { countText, momentText } from '../shell/format.ts';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { NotYet } from '../ui/not-yet.tsx';
import { words } from '../words.ts';
import { DEVICE, isSound, textOf, valueOf } from './draft.ts';
import { EditMetadata } from './edit.tsx';
import { MetadataGrid } from './grid.tsx';
import { matchedQuery, metadataQuery, removeMetadata, type MetadataRecord, type Read } from './queries.ts';
import '../table/table.css';
import './metadata.css';

const route = getRouteApi('/guarded/experiments/$id/metadata/$metadata');
const said = words.metadata;

/** Says where identifiers and measurements do not meet: nothing else tells why columns are empty. */
function Unmatched({ id, matched, identifiers }: { id: string; matched: string; identifiers: readonly string[] }) {
  const { data } = useQuery(matchedQuery(id, matched));
  if (data === undefined || data.truncated || data.values.length === 0 || identifiers.length === 0) return null;
  const known = new Set(identifiers);
  const missing = data.values.filter((value) => !known.has(value));
  if (missing.length === 0) return null;
  return missing.length === data.values.length ? (
    <p className="notice">{said.noneMatched(said.some(data.values), said.some(identifiers))}</p>
  ) : (
    <p className="quiet">{said.unmatched(said.some(missing))}</p>
  );
}

/** What the table adds to measurements, and where that is seen. */
function Beside({ id, record }: { id: string; record: MetadataRecord }) {
  const { metadata, duplicateIdentifiers } = record;
  const { columns, identifierColumnId, experimentQuestionId } = metadata;
  const tables = useQuery(tablesQuery(id)).data ?? [];
  const measurements = tables.find(({ identifier }) => identifier === 'raw_data');
  const identifier = columns.find(({ id: each }) => each === identifierColumnId);
  const column = identifier?.name ?? identifierColumnId;
  const known = new Set(measurements?.columns.map(({ name }) => name));
  const matched = experimentQuestionId === DEVICE ? 'device_id' : experimentQuestionId;
  const added = columns.filter(({ id: each }) => each !== identifierColumnId).map(({ name }) => name);
  // a column whose name measurements have already is called `metadata_` and its name
  const shown = ['timestamp', matched, ...added.map((name) => (known.has(`metadata_${name}`) ? `metadata_${name}` : name))];
  const search = { columns: shown.filter((name) => known.has(name)).slice(0, 50) };
  const what = experimentQuestionId === DEVICE ? said.device : said.answer(experimentQuestionId);
  return (
    <>
      <p>
        {said.matches(column, what)}{' '}
        {measurements?.canRead === true ? (
          <Link to="/experiments/$id/tables/$table" params={{ id, table: measurements.identifier }} search={search}>
            {said.beside}
          </Link>
        ) : null}
      </p>
      {measurements?.canRead === true && identifier !== undefined && known.has(matched) ? (
        <Unmatched id={id} matched={matched} identifiers={metadata.rows.map((row) => textOf(valueOf(row, identifier))).filter(Boolean)} />
      ) : null}
      {duplicateIdentifiers.length === 0 ? null : <p className="notice">{said.twice(duplicateIdentifiers.join(', '))}</p>}
    </>
  );
}

function Shown({ id, read: { record } }: { id: string; read: Read }) {
  const { metadata, updatedAt } = record;
  return (
    <div className="panel">
      <p className="small quiet">{said.facts(countText(metadata.rows.length), metadata.columns.length, momentText(updatedAt))}</p>
      <Beside id={id} record={record} />
      <MetadataGrid metadata={metadata} label={said.grid(metadata.name)} />
    </div>
  );
}

/** A metadata table, to be read or edited. */
export function MetadataPage() {
  const { id, metadata: metadataId } = route.useParams();
  const { edit = false } = route.useSearch();
  const navigate = route.useNavigate();
  const { isAdmin, experiment } = useSuspenseQuery(experimentQuery(id)).data;
  const { data: read, error, refetch } = useQuery(metadataQuery(id, metadataId));
  const mayEdit = isAdmin && experiment.status !== 'archived';
  const [wasEditing, setEditing] = useState(false);
  const sound = read !== undefined && isSound(read.record.metadata);
  const isEditing = edit && ((mayEdit && sound) || wasEditing);
  // whoever began editing may go on; a later refusal, or what somebody else saved, is told when they save
  if (isEditing !== wasEditing) setEditing(isEditing);
  const remove = useMutation({
    mutationFn: (tag: string) => removeMetadata({ id, metadataId, tag }),
    onSuccess: async () => {
      sayDone(said.removed);
      await navigate({ to: '/experiments/$id/metadata', params: { id }, search: {}, ignoreBlocker: true });
    },
  });
  if (read === undefined) return <NotYet error={error} refetch={refetch} />;
  const { metadata } = read.record;
  const name = metadata.name === '' ? said.nameless : metadata.name;
  const show = (isEdited: boolean, ignoreBlocker = true) => void navigate({ search: isEdited ? { edit: true } : {}, ignoreBlocker });
  return (
    <div className="stack">
      <title>{`${name} · ${experiment.name} · ${words.name}`}</title>
      <div className="table-head">
        <h2>{name}</h2>
        <Link className="small" to="/experiments/$id/metadata" params={{ id }} search={{}}>
          {said.back}
        </Link>
        {mayEdit && sound && !isEditing ? (
          <button type="button" className="button" onClick={() => show(true)}>
            {said.edit}
          </button>
        ) : null}
        {mayEdit ? (
          <AskFirst
            action={said.remove}
            label={said.removeOf(name)}
            question={said.removeOf(name)}
            consequence={said.removeAsk}
            perform={() => remove.mutateAsync(read.tag)}
          />
        ) : null}
      </div>
      {isEditing ? (
        <EditMetadata key={metadataId} id={id} begun={read} stop={(isDecided) => show(false, isDecided)} />
      ) : !sound ? (
        <p className="notice">{said.odd}</p>
      ) : (
        <Shown id={id} read={read} />
      )}
    </div>
  );
}
