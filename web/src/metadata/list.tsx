import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { experimentQuery } from '../experiments/queries.ts';
import { listNames } from '../isolated.ts';
import { agoText, countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { Pages } from '../ui/pages.tsx';
import { words } from '../words.ts';
import { isSound } from './draft.ts';
import { metadataListQuery, PAGE_SIZE, type MetadataRecord } from './queries.ts';

const route = getRouteApi('/guarded/experiments/$id/metadata');
const said = words.metadata;

function TableRow({ id, record: { metadataId, metadata, updatedAt } }: { id: string; record: MetadataRecord }) {
  const sound = isSound(metadata);
  return (
    <li>
      <div>
        <h3>
          <Link to="/experiments/$id/metadata/$metadata" params={{ id, metadata: metadataId }} search={{}}>
            {metadata.name === '' ? said.nameless : metadata.name}
          </Link>
        </h3>
        <p className="small quiet">
          {sound ? said.facts(countText(metadata.rows.length), metadata.columns.length, agoText(updatedAt)) : said.odd}
        </p>
        {sound ? <p className="small quiet column-names">{listNames(metadata.columns.map(({ name }) => name))}</p> : null}
      </div>
    </li>
  );
}

/** The metadata tables of an experiment, newest first. */
export function MetadataListPage() {
  const { id } = route.useParams();
  const { page = 1 } = route.useSearch();
  const { isAdmin, experiment } = useSuspenseQuery(experimentQuery(id)).data;
  const { data, error, refetch } = useQuery(metadataListQuery(id, page));
  const mayMake = isAdmin && experiment.status !== 'archived';
  return (
    <section className="panel" aria-labelledby="metadata">
      <title>{`${said.title} · ${experiment.name} · ${words.name}`}</title>
      <header>
        <h2 id="metadata">{said.title}</h2>
        {mayMake ? (
          <Link className="button primary" to="/experiments/$id/metadata/new" params={{ id }}>
            {said.make}
          </Link>
        ) : null}
      </header>
      <p className="small quiet">{said.lead}</p>
      <Problem error={error} retry={() => void refetch()} />
      {data?.total === 0 ? (
        <div className="empty">
          <h3>{said.none}</h3>
          <p>{mayMake ? `${said.noneText} ${said.noneMay}` : said.noneText}</p>
        </div>
      ) : null}
      <ul className="rows">
        {data?.records.map((record) => (
          <TableRow key={record.metadataId} id={id} record={record} />
        ))}
      </ul>
      {data === undefined ? null : (
        <Pages
          page={page}
          pageSize={PAGE_SIZE}
          total={data.total}
          link={(to, text) => (
            <Link className="button" to="/experiments/$id/metadata" params={{ id }} search={{ page: to }}>
              {text}
            </Link>
          )}
        />
      )}
    </section>
  );
}
