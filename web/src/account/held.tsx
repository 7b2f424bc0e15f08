import { useMutation } from '@tanstack/react-query';
import { Link, linkOptions, type LinkOptions } from '@tanstack/react-router';
import { sayDone } from '../shell/toasts.tsx';
import { Form, SendLine, type Fields } from '../ui/form.tsx';
import { Options } from '../ui/options.tsx';
import { words } from '../words.ts';
import { handOver, type Blockers, type HeldResource } from './queries.ts';

const said = words.account.closing;

/** Where each kind of thing is shared. */
const SHARING: Readonly<Record<HeldResource['resourceType'], (id: string) => LinkOptions>> = {
  experiment: (id) => linkOptions({ to: '/experiments/$id/sharing', params: { id } }),
  macro: (macro) => linkOptions({ to: '/library/macros/$macro/sharing', params: { macro } }),
  protocol: (protocol) => linkOptions({ to: '/library/protocols/$protocol/sharing', params: { protocol } }),
  workbook: (workbook) => linkOptions({ to: '/library/workbooks/$workbook/sharing', params: { workbook } }),
  device: (device) => linkOptions({ to: '/devices/$device/sharing', params: { device } }),
  device_group: (group) => linkOptions({ to: '/devices/groups/$group/sharing', params: { group } }),
};

function ResourceRow({ resource: { resourceType, id, name, candidates } }: { resource: HeldResource }) {
  return (
    <li>
      <div>
        <Link {...SHARING[resourceType](id)}>{name}</Link>
        <p className="small quiet">
          {candidates.length === 0 ? said.sharedWithNobody(said.kinds[resourceType]) : said.kinds[resourceType]}
        </p>
      </div>
      {candidates.length === 0 ? null : (
        <select className="input role" name={id} aria-label={said.handOverLabel(name)} defaultValue="">
          <option value="">{said.toNobody}</option>
          <Options texts={candidates.map(({ userId, firstName, lastName }) => [userId, `${firstName} ${lastName}`.trim()])} />
        </select>
      )}
    </li>
  );
}

/** What nobody else answers for: it leads to where each is shared, and hands things over to people who have access. */
export function HeldList({ blockers: { organizations, resources } }: { blockers: Blockers }) {
  const give = useMutation({
    mutationFn: handOver,
    onSuccess: ({ given }) => (given === 0 ? undefined : sayDone(said.handedOver(given))),
  });
  const submit = (fields: Fields) => {
    const transfers = resources.flatMap(({ id, resourceType }) => {
      const targetUserId = fields[id] ?? '';
      return targetUserId === '' ? [] : [{ resourceType, resourceId: id, targetUserId }];
    });
    if (transfers.length > 0) give.mutate(transfers);
  };
  return (
    <Form className="stack" send={submit}>
      <p>{said.held}</p>
      <ul className="rows tight" aria-label={said.heldLabel}>
        {organizations.map(({ id, name }) => (
          <li key={id}>
            <div>
              <Link to="/organizations/$organization" params={{ organization: id }}>
                {name}
              </Link>
              <p className="small quiet">{said.organization}</p>
            </div>
          </li>
        ))}
        {resources.map((resource) => (
          <ResourceRow key={resource.id} resource={resource} />
        ))}
      </ul>
      {give.data === undefined || give.data.refused.length === 0 ? null : (
        <p role="alert" className="notice problem">
          {give.data.refused.join(' ')}
        </p>
      )}
      {resources.some(({ candidates }) => candidates.length > 0) ? <SendLine sent={give} says={said.handOver} /> : null}
    </Form>
  );
}
