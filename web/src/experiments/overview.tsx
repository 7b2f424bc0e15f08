import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { listNames } from '../isolated.ts';
import { agoText, countText, momentText } from '../shell/format.ts';
import { Section } from '../ui/section.tsx';
import { StatusTag } from '../upload/status-tag.tsx';
import { words } from '../words.ts';
import { titleOf } from '../workbooks/steps.ts';
import { isGiven } from './columns.ts';
import { PeopleSection } from './people.tsx';
import {
  devicesQuery,
  experimentQuery,
  flowQuery,
  isGone,
  tablesQuery,
  uploadsQuery,
  type DeviceListed,
  type TableListed,
} from './queries.ts';
import { SetAsideSection } from './set-aside.tsx';

const route = getRouteApi('/guarded/experiments/$id');
const said = words.experiment;
/** More are shown when they are asked for. */
const FIRST_DEVICES = 10;

/** Whether a table has begun: a macro's table is listed before the macro has made anything. */
const hasBegun = ({ tableType, version }: TableListed) => tableType !== 'macro' || version > 0;

function TableRow({ id, table }: { id: string; table: TableListed }) {
  const { identifier, displayName, tableType, totalRows, columns, canRead } = table;
  return (
    <li>
      <div>
        <h3>
          {canRead ? (
            <Link to="/experiments/$id/tables/$table" params={{ id, table: identifier }}>
              {displayName}
            </Link>
          ) : (
            displayName
          )}
        </h3>
        <p className="small quiet column-names">
          {listNames(
            columns
              .map(({ name }) => name)
              .filter((name) => !isGiven(name))
              .slice(0, 8),
          )}
          {columns.length > 8 ? `, … ${said.columns(columns.length)}` : ''}
        </p>
        {canRead ? null : <p className="small quiet">{said.unreadable}</p>}
        {canRead && tableType === 'upload' && totalRows === 0 ? <p className="small quiet">{said.nothingStored}</p> : null}
      </div>
      <p className="small table-size">
        <span className="number">{said.rows(countText(totalRows))}</span> <span className="tag">{said.kinds[tableType]}</span>
      </p>
    </li>
  );
}

const namesOf = (list: readonly DeviceListed[]) =>
  new Map(list.map(({ device: { thingName, name, serialNumber } }) => [thingName, name ?? serialNumber]));

function DeviceRows({ list }: { list: readonly DeviceListed[] }) {
  return (
    <ul className="rows tight">
      {list.map(({ device, addedAt }) => (
        <li key={device.id}>
          <Link to="/devices/$device" params={{ device: device.id }}>
            {device.name ?? device.serialNumber}
          </Link>
          <span className="small quiet" title={momentText(addedAt)}>
            {words.devices.types[device.deviceType]}
            {device.deviceType === 'mobile' ? '' : `, ${words.devices.status[device.status]}`}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** An experiment at one look. */
export function OverviewPage() {
  const { id } = route.useParams();
  const { data, error } = useSuspenseQuery(experimentQuery(id));
  const { experiment, capabilities } = data;
  const tables = useQuery(tablesQuery(id));
  const devices = useQuery({ ...devicesQuery(id), enabled: capabilities.canContribute });
  const flow = useQuery(flowQuery(id));
  const uploads = useQuery({ ...uploadsQuery(id, 5), enabled: capabilities.canContribute });
  // why is said above every page of the experiment
  if (isGone(error)) return null;
  const isOpen = experiment.status !== 'archived';
  const mayManage = capabilities.canManage && isOpen;
  const locations = experiment.locations ?? [];
  const description = experiment.description ?? '';
  return (
    <div className="overview">
      <div className="stack">
        <div className="lead stack">
          <p className={description === '' ? 'quiet' : ''}>{description === '' ? said.noDescription : description}</p>
          {experiment.anonymizeContributors ? <p className="small quiet">{said.anonymized}</p> : null}
        </div>
        <Section
          id="tables"
          title={said.tables}
          asked={tables}
          empty={(list) => (list.some(hasBegun) ? undefined : said.tablesNone)}
          action={
            capabilities.canContribute && isOpen ? (
              <Link className="button primary" to="/experiments/$id/uploads" params={{ id }}>
                {said.upload}
              </Link>
            ) : null
          }
        >
          {(list) => (
            <ul className="rows">
              {list.filter(hasBegun).map((table) => (
                <TableRow key={table.identifier} id={id} table={table} />
              ))}
            </ul>
          )}
        </Section>
        <SetAsideSection tables={tables.data ?? []} names={namesOf(devices.data ?? [])} />
        {capabilities.canContribute ? (
          <Section
            id="ingestion"
            title={said.ingestion}
            asked={uploads}
            empty={(list) => (list.length === 0 ? said.ingestionNone : undefined)}
            action={
              <Link className="small" to="/experiments/$id/uploads" params={{ id }}>
                {said.uploads}
              </Link>
            }
          >
            {(list) => (
              <ul className="rows">
                {list.map(({ uploadId, uploadTableName, status, rowCount, quarantined, createdAt, errorMessage, withdrawnAt }) => (
                  <li key={uploadId}>
                    <div>
                      <h3>{uploadTableName ?? words.upload.history.noTable}</h3>
                      <p className="small quiet number">
                        {errorMessage ?? said.stored(countText(rowCount), countText(quarantined))}{' '}
                        <Link to="/experiments/$id/uploads/$upload" params={{ id, upload: uploadId }}>
                          {said.report(agoText(createdAt))}
                        </Link>
                      </p>
                    </div>
                    <StatusTag status={status} withdrawnAt={withdrawnAt} />
                  </li>
                ))}
              </ul>
            )}
          </Section>
        ) : null}
      </div>
      <div className="stack">
        <PeopleSection
          id={id}
          canShare={capabilities.canShare}
          action={
            <Link className="small" to="/experiments/$id/sharing" params={{ id }}>
              {words.sharing.title}
            </Link>
          }
        />
        <section className="panel" aria-labelledby="places">
          <h2 id="places">{said.places}</h2>
          {locations.length === 0 ? (
            <p className="quiet">
              {said.placesNone}{' '}
              {mayManage ? (
                <Link to="/experiments/$id/settings" params={{ id }}>
                  {said.placesAdd}
                </Link>
              ) : null}
            </p>
          ) : (
            <ul className="rows tight">
              {locations.map(({ id: place, name, municipality, country, latitude, longitude }) => (
                <li key={place}>
                  <div>
                    <p>{name}</p>
                    <p className="small quiet">{listNames([municipality, country].filter((part) => part !== undefined))}</p>
                  </div>
                  <span className="small quiet number">
                    {latitude.toFixed(4)}, {longitude.toFixed(4)}
                  </span>
                </li>
              ))}
            </ul>
          )}
        </section>
        <Section
          id="protocol"
          title={said.protocol}
          asked={flow}
          empty={(found) =>
            found === null ? (
              <>
                {said.protocolNone}{' '}
                {mayManage ? (
                  <Link to="/experiments/$id/workbook" params={{ id }}>
                    {said.protocolAdd}
                  </Link>
                ) : null}
              </>
            ) : undefined
          }
        >
          {(found) => (
            <ol className="steps">
              {found?.graph.nodes.map((node) => (
                <li key={node.id}>
                  {titleOf(node)} <span className="small quiet">{words.workbooks.attached.nodeTypes[node.type]}</span>
                </li>
              ))}
            </ol>
          )}
        </Section>
        {capabilities.canContribute ? (
          <Section
            id="devices"
            title={said.devices}
            asked={devices}
            empty={(list) =>
              list.length === 0 ? (
                <>
                  {said.devicesNone} {isOpen ? <Link to="/devices">{said.devicesAdd}</Link> : null}
                </>
              ) : undefined
            }
          >
            {(list) => (
              <>
                <DeviceRows list={list.slice(0, FIRST_DEVICES)} />
                {list.length > FIRST_DEVICES ? (
                  <details>
                    <summary className="small">{said.more(list.length - FIRST_DEVICES)}</summary>
                    <DeviceRows list={list.slice(FIRST_DEVICES)} />
                  </details>
                ) : null}
              </>
            )}
          </Section>
        ) : null}
      </div>
    </div>
  );
}
