import { useQueries, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { uploadsQuery, type UploadListed } from '../experiments/queries.ts';
import { agoText, countText } from '../shell/format.ts';
import { NameAsked } from '../shell/name-asked.tsx';
import { Pages } from '../ui/pages.tsx';
import { words } from '../words.ts';
import { experimentsQuery, PAGE_SIZE, SLICE_NAMES, type ExperimentListed, type HomeSearch } from './queries.ts';
import './home.css';

const route = getRouteApi('/guarded/');

const LOOKED_AT = 5;
const SHOWN = 8;

function ExperimentRow({ experiment }: { experiment: ExperimentListed }) {
  const { id, name, description, status, visibility, organizationName, membersCount, updatedAt } = experiment;
  return (
    <li className="experiment-row">
      <div>
        <h2>
          <Link to="/experiments/$id" params={{ id }}>
            {name}
          </Link>
        </h2>
        {description === null || description === '' ? null : <p className="quiet">{description}</p>}
      </div>
      <p className="small quiet facts">
        <span>{organizationName ?? words.home.personal}</span>
        <span>{words.home.people(membersCount)}</span>
        <span>{words.home.updated(agoText(updatedAt))}</span>
        {visibility === 'public' ? <span className="tag good">{words.experiment.visibility.public}</span> : null}
        {status === 'active' ? null : <span className="tag">{words.experiment.status[status]}</span>}
      </p>
    </li>
  );
}

const saidOf = ({ status, rowCount, uploadTableName: table }: UploadListed): string => {
  if (status === 'failed') return words.home.uploadFailed(table);
  if (status === 'pending' || status === 'running') return words.home.uploadRunning(table);
  return words.home.uploaded(countText(rowCount), table);
};

/** The newest uploads into the experiments that changed last. Those whose uploads one may not see are left out. */
function Lately({ experiments }: { experiments: readonly ExperimentListed[] }) {
  const looked = experiments.slice(0, LOOKED_AT);
  const found = useQueries({ queries: looked.map(({ id }) => uploadsQuery(id, LOOKED_AT)) });
  const uploads = found
    .flatMap(({ data }, index) => (data ?? []).map((upload) => ({ upload, experiment: looked[index] })))
    .sort((a, b) => b.upload.createdAt.localeCompare(a.upload.createdAt))
    .slice(0, SHOWN);
  return (
    <section className="panel lately" aria-labelledby="lately">
      <h2 id="lately">{words.home.lately}</h2>
      {uploads.length === 0 ? (
        <p className="quiet">{found.some(({ isPending }) => isPending) ? words.waiting : words.home.latelyNone}</p>
      ) : (
        <ul className="rows">
          {uploads.map(({ upload, experiment }) => (
            <li key={upload.uploadId}>
              <div>
                <p>{saidOf(upload)}</p>
                <p className="small quiet">
                  {experiment === undefined ? null : (
                    <Link to="/experiments/$id" params={{ id: experiment.id }}>
                      {experiment.name}
                    </Link>
                  )}
                  , {agoText(upload.createdAt)}
                </p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Nothing({ asked: { search, scope = 'related', archived } }: { asked: HomeSearch }) {
  const isFirst = search === undefined && archived !== true;
  const [title, text] =
    search !== undefined
      ? [words.home.noneFound(search), words.home.noneFoundText]
      : archived === true
        ? [words.home.noneArchived, words.home.noneArchivedText]
        : [words.home.none[scope], words.home.noneText];
  return (
    <div className="panel empty">
      <h2>{title}</h2>
      <p>{text}</p>
      {isFirst ? (
        <Link className="button primary" to="/experiments/new">
          {words.sharing.experiment.new}
        </Link>
      ) : null}
    </div>
  );
}

/** Experiments, and what happened to them lately. */
export function HomePage() {
  const asked = route.useSearch();
  const { data } = useSuspenseQuery(experimentsQuery(asked));
  const scope = asked.scope ?? 'related';
  return (
    <div className="page">
      <title>{`${words.home.title} · ${words.name}`}</title>
      <header className="page-head">
        <div className="choices spread">
          <h1>{words.home.title}</h1>
          <Link className="button" to="/experiments/new">
            {words.sharing.experiment.new}
          </Link>
        </div>
        <nav className="choices" aria-label={words.home.scopeLabel}>
          {SLICE_NAMES.map((each) => (
            <Link
              key={each}
              to="/"
              search={{ ...asked, scope: each, page: undefined }}
              aria-current={each === scope ? 'true' : undefined}
              className="choice"
            >
              {words.home.scopes[each]}
            </Link>
          ))}
          <Link
            to="/"
            search={{ ...asked, archived: asked.archived === true ? undefined : true, page: undefined }}
            aria-current={asked.archived === true ? 'true' : undefined}
            className="choice"
          >
            {words.home.archived}
          </Link>
        </nav>
        <p className="small quiet" role="status">
          {words.home.found(data.total)}
        </p>
      </header>
      <NameAsked />
      <div className="home">
        {data.total === 0 ? (
          <Nothing asked={asked} />
        ) : (
          <div className="stack">
            {data.experiments.length === 0 ? null : (
              <ul className="panel experiments">
                {data.experiments.map((experiment) => (
                  <ExperimentRow key={experiment.id} experiment={experiment} />
                ))}
              </ul>
            )}
            <Pages
              page={asked.page ?? 1}
              pageSize={PAGE_SIZE}
              total={data.total}
              link={(page, text) => (
                <Link className="button" to="/" search={{ ...asked, page }}>
                  {text}
                </Link>
              )}
            />
          </div>
        )}
        <Lately experiments={data.experiments} />
      </div>
    </div>
  );
}
