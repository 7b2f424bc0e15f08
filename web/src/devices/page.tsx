import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { InputField, SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { NotYet } from '../ui/not-yet.tsx';
import { Options } from '../ui/options.tsx';
import { Pages } from '../ui/pages.tsx';
import { useTyped } from '../ui/typed.ts';
import { words } from '../words.ts';
import { FleetMap } from './fleet-map.tsx';
import { fleetMonitoringQuery, fleetQuery, PAGE_SIZE, type DeviceListed } from './queries.ts';
import { fleetSearch, TYPES } from './search.ts';
import { CertificateTag, Connection, nameOf, When } from './state.tsx';
import './devices.css';

const route = getRouteApi('/guarded/devices');
const said = words.devices;

interface Activity {
  counts: ReadonlyMap<string, number>;
  lastData: ReadonlyMap<string, string | null>;
}

function DeviceRow({ device, activity }: { device: DeviceListed; activity: Activity | undefined }) {
  const { id, deviceType, serialNumber, connectivity } = device;
  return (
    <li>
      <div>
        <h2 className="device-name">
          <Link to="/devices/$device" params={{ device: id }}>
            {nameOf(device)}
          </Link>
        </h2>
        <p className="small quiet facts">
          <span>{said.types[deviceType]}</span>
          <span className="serial">{serialNumber}</span>
          <When at={connectivity?.lastSeenAt} says={said.seen} never={null} />
          {activity === undefined ? null : (
            <>
              <When at={activity.lastData.get(id)} says={said.lastData} never={said.noData} />
              <span className="number">{said.week(countText(activity.counts.get(id) ?? 0))}</span>
            </>
          )}
        </p>
      </div>
      <p className="facts">
        <CertificateTag device={device} />
        <Connection connectivity={connectivity ?? null} />
      </p>
    </li>
  );
}

function Filters() {
  const asked = route.useSearch();
  const navigate = route.useNavigate();
  const { scope = 'related', view = 'list' } = asked;
  const [search, typeSearch] = useTyped(asked.search ?? '');
  const [type, chooseType] = useTyped(asked.type ?? '');
  const submit = () => {
    void navigate({
      search: fleetSearch.parse({ ...asked, page: undefined, search: search.trim() === '' ? undefined : search.trim(), type }),
    });
  };
  return (
    <div className="stack">
      <Form role="search" aria-label={words.devices.title} className="inline" send={submit}>
        <InputField
          id="device-search"
          label={said.searchLabel}
          type="search"
          maxLength={200}
          value={search}
          onChange={({ target }) => typeSearch(target.value)}
        />
        <SelectField id="device-type" label={said.type} value={type} onChange={({ target }) => chooseType(target.value)}>
          <option value="">{said.anyType}</option>
          <Options texts={TYPES.map((each) => [each, said.types[each]])} />
        </SelectField>
        <button type="submit" className="button">
          {said.search}
        </button>
      </Form>
      <div className="choices spread">
        <nav className="choices" aria-label={said.scope}>
          {(['related', 'all'] as const).map((each) => (
            <Link
              key={each}
              to="/devices"
              search={{ ...asked, scope: each, page: undefined }}
              className="choice"
              aria-current={each === scope ? 'true' : undefined}
            >
              {said.scopes[each]}
            </Link>
          ))}
        </nav>
        <nav className="choices" aria-label={said.view}>
          {(['list', 'map'] as const).map((each) => (
            <Link
              key={each}
              to="/devices"
              search={{ ...asked, view: each }}
              className="choice"
              aria-current={each === view ? 'true' : undefined}
            >
              {said.views[each]}
            </Link>
          ))}
        </nav>
      </div>
    </div>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return (
    <div className="panel empty">
      <h2>{isFiltered ? said.noneFound : said.none}</h2>
      <p>{isFiltered ? said.noneFoundText : said.noneText}</p>
      {isFiltered ? null : (
        <Link className="button primary" to="/devices/new">
          {said.register}
        </Link>
      )}
    </div>
  );
}

function Fleet() {
  const asked = route.useSearch();
  const { data, error, refetch } = useQuery(fleetQuery(asked));
  const monitoring = useQuery(fleetMonitoringQuery);
  if (data === undefined) return <NotYet error={error} refetch={refetch} />;
  return (
    <div className="stack">
      <p className="small quiet" role="status">
        {said.found(countText(data.total))}
      </p>
      <Problem error={monitoring.error} retry={() => void monitoring.refetch()} />
      {data.total === 0 ? (
        <Nothing isFiltered={asked.search !== undefined || asked.type !== undefined} />
      ) : data.devices.length === 0 ? null : asked.view === 'map' ? (
        <FleetMap devices={data.devices} />
      ) : (
        <ul className="rows panel" aria-label={said.title}>
          {data.devices.map((device) => (
            <DeviceRow key={device.id} device={device} activity={monitoring.data} />
          ))}
        </ul>
      )}
      <Pages
        page={asked.page ?? 1}
        pageSize={PAGE_SIZE}
        total={data.total}
        link={(page, text) => (
          <Link className="button" to="/devices" search={{ ...asked, page }}>
            {text}
          </Link>
        )}
      />
    </div>
  );
}

/** The devices that one may read: how they are, and what they measured lately. What is written to find some stays while they are asked for. */
export function DevicesPage() {
  return (
    <div className="page">
      <title>{`${said.title} · ${words.name}`}</title>
      <header className="page-head">
        <div className="choices spread">
          <h1>{said.title}</h1>
          <p className="inline">
            <Link className="button" to="/devices/groups">
              {said.groups}
            </Link>
            <Link className="button primary" to="/devices/new">
              {said.register}
            </Link>
          </p>
        </div>
        <Filters />
      </header>
      <Fleet />
    </div>
  );
}
