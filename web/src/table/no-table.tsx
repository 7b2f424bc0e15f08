import { Link } from '@tanstack/react-router';
import { words } from '../words.ts';

const said = words.table;

/** What stands where a table was deleted, or never was. */
export const NoTable = ({ id }: { id: string }) => (
  <div className="panel empty">
    <title>{`${said.notThere} · ${words.name}`}</title>
    <h2>{said.notThere}</h2>
    <p>{words.problem.advice[404]}</p>
    <Link to="/experiments/$id" params={{ id }}>
      {said.back}
    </Link>
  </div>
);
