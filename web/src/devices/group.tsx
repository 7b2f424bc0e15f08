import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone, sayFailed } from '../shell/toasts.tsx';
import { SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Options } from '../ui/options.tsx';
import { Section } from '../ui/section.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { GroupActionsPanel } from './group-actions.tsx';
import { GroupSettingsPanel } from './group-settings.tsx';
import { groupMonitoringQuery, groupQuery, membersQuery, ownDevicesQuery, type Member } from './queries.ts';
import { CertificateTag, Connection, nameOf, When } from './state.tsx';
import { addMember, removeMember } from './writes.ts';
import './devices.css';

const route = getRouteApi('/guarded/devices/groups/$group');
const said = words.devices.group;

function MemberRow({ groupId, member, mayChange }: { groupId: string; member: Member; mayChange: boolean }) {
  const { deviceId, name, serialNumber, deviceType, status, connected } = member;
  const monitored = useQuery(groupMonitoringQuery(groupId)).data;
  const watched = monitored?.members.find((each) => each.deviceId === deviceId);
  const connectivity = watched?.connectivity ?? (connected === null ? null : { connected });
  const firmware = monitored?.firmware.find((each) => each.deviceId === deviceId)?.version;
  const measured = monitored?.throughput.filter((each) => each.deviceId === deviceId).reduce((sum, { count }) => sum + count, 0);
  const remove = useMutation({ mutationFn: () => removeMember(groupId, deviceId), onError: sayFailed });
  const called = name ?? serialNumber ?? said.hidden;
  return (
    <li>
      <div>
        <h3>
          {serialNumber === null ? (
            said.hidden
          ) : (
            <Link to="/devices/$device" params={{ device: deviceId }}>
              {called}
            </Link>
          )}
        </h3>
        <p className="small quiet facts">
          {deviceType === null ? null : <span>{words.devices.types[deviceType]}</span>}
          <When at={watched?.lastDataAt} says={words.devices.lastData} never={words.devices.noData} />
          {measured === undefined ? null : <span className="number">{words.devices.week(countText(measured))}</span>}
          {firmware === undefined ? null : <span>{`${words.devices.device.firmware} ${firmware}`}</span>}
        </p>
      </div>
      <p className="facts">
        {status === null || deviceType === null ? null : <CertificateTag device={{ status, deviceType }} />}
        <Connection connectivity={connectivity} />
      </p>
      {mayChange ? (
        <SendButton aria-label={said.takeOutLabel(called)} isSending={remove.isPending} onClick={() => remove.mutate()}>
          {said.takeOut}
        </SendButton>
      ) : null}
    </li>
  );
}

function AddForm({ groupId, members }: { groupId: string; members: readonly Member[] }) {
  const fleet = useQuery(ownDevicesQuery);
  const isIn = new Set(members.map(({ deviceId }) => deviceId));
  const open = fleet.data?.filter(({ id }) => !isIn.has(id)) ?? [];
  const add = useMutation({ mutationFn: (deviceId: string) => addMember(groupId, deviceId), onSuccess: () => sayDone(said.added) });
  if (fleet.data !== undefined && open.length === 0) return <p className="small quiet">{said.addNone}</p>;
  return (
    <Form className="stack" send={(fields) => add.mutate(fields['device'] ?? '')}>
      <div className="inline">
        <SelectField id="add-device" label={said.addLabel} name="device" required>
          <Options texts={open.map((device) => [device.id, nameOf(device)])} />
        </SelectField>
        <SendButton type="submit" isSending={add.isPending} isIdle={open.length === 0}>
          {said.add}
        </SendButton>
      </div>
      <Problem error={fleet.error ?? add.error} />
    </Form>
  );
}

/** A group: its devices, and what is done to all of them at once. */
export function GroupPage() {
  const { group: groupId } = route.useParams();
  const { group, tag } = useSuspenseQuery(groupQuery(groupId)).data;
  const members = useQuery(membersQuery(groupId));
  const { name, description, memberCount, capabilities } = group;
  return (
    <div className="page">
      <title>{`${name} · ${words.name}`}</title>
      <header className="page-head">
        <p className="small">
          <Link to="/devices/groups">{said.back}</Link>
        </p>
        <h1 className="serial">{name}</h1>
        {description === null ? null : <p className="quiet">{description}</p>}
        <p className="small quiet facts">
          <span className="number">{said.facts(memberCount)}</span>
          <Link to="/devices/groups/$group/sharing" params={{ group: groupId }}>
            {words.sharing.title}
          </Link>
        </p>
      </header>
      <div className="device">
        <div className="stack">
          <Section id="members" title={said.members} asked={members} empty={(list) => (list.length === 0 ? said.membersNone : undefined)}>
            {(list) => (
              <ul className="rows">
                {list.map((member) => (
                  <MemberRow key={member.deviceId} groupId={groupId} member={member} mayChange={capabilities.canManage} />
                ))}
              </ul>
            )}
          </Section>
          {capabilities.canManage && members.data !== undefined ? (
            <section className="panel" aria-label={said.add}>
              <AddForm groupId={groupId} members={members.data} />
            </section>
          ) : null}
        </div>
        {capabilities.canManage ? (
          <div className="stack">
            {memberCount === 0 ? null : <GroupActionsPanel group={group} members={members.data ?? []} />}
            <GroupSettingsPanel group={group} tag={tag} />
          </div>
        ) : null}
      </div>
    </div>
  );
}
