import { agoText, countText, momentText } from '../shell/format.ts';
import { words } from '../words.ts';
import type { TableListed } from './queries.ts';

const said = words.devices.setAside;

interface Props {
  tables: readonly TableListed[];
  /** Names of the experiment's devices by thing name. */
  names: ReadonlyMap<string, string>;
}

/** What arrived for an experiment and could not be stored; nothing when all of it was. */
export function SetAsideSection({ tables, names }: Props) {
  const list = tables.flatMap(({ setAside }) => setAside ?? []);
  if (list.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="set-aside">
      <h2 id="set-aside">{said.title}</h2>
      <p className="quiet">{said.lead}</p>
      <ul className="rows tight">
        {list.map(({ reason, clientId, count, lastAt }) => (
          <li key={`${reason} ${clientId ?? ''}`}>
            <div>
              <p>{said.why(reason)}</p>
              <p className="small quiet" title={momentText(lastAt)}>
                {said.from(clientId === null ? said.people : (names.get(clientId) ?? clientId), countText(count), agoText(lastAt))}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
