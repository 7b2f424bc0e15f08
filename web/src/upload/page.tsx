import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { experimentQuery } from '../experiments/queries.ts';
import { NameAsked } from '../shell/name-asked.tsx';
import { words } from '../words.ts';
import { UploadForm } from './form.tsx';
import { History } from './history.tsx';
import './upload.css';

const route = getRouteApi('/guarded/experiments/$id/uploads');
const said = words.upload;

/** Sends files into an experiment, and shows which were. */
export function UploadsPage() {
  const { id } = route.useParams();
  const { page = 1 } = route.useSearch();
  const { experiment, capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const isArchived = experiment.status === 'archived';
  return (
    <div className="uploads">
      <title>{`${said.title} · ${experiment.name} · ${words.name}`}</title>
      <section className="panel" aria-labelledby="upload">
        <header>
          <h2 id="upload">{said.title}</h2>
          <Link className="small" to="/experiments/$id" params={{ id }}>
            {words.table.back}
          </Link>
        </header>
        {!capabilities.canContribute ? (
          <p className="quiet">{said.mayNot}</p>
        ) : isArchived ? (
          <p className="quiet">{said.archived}</p>
        ) : (
          <>
            <NameAsked />
            <UploadForm id={id} mayMakeTables={capabilities.canManage} />
          </>
        )}
      </section>
      {capabilities.canContribute ? <History id={id} page={page} /> : null}
    </div>
  );
}
