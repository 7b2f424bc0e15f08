import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { SharingOfThing } from '../sharing/thing.tsx';
import { deviceQuery, groupQuery } from './queries.ts';
import { nameOf } from './state.tsx';

const deviceRoute = getRouteApi('/guarded/devices/$device/sharing');
const groupRoute = getRouteApi('/guarded/devices/groups/$group/sharing');

/** Who may do what with a device, and why. */
export function DeviceSharingPage() {
  const { device: id } = deviceRoute.useParams();
  const { device } = useSuspenseQuery(deviceQuery(id)).data;
  return (
    <div className="page">
      <SharingOfThing
        shared={{ resourceType: 'device', id }}
        link={
          <Link to="/devices/$device" params={{ device: id }}>
            {nameOf(device)}
          </Link>
        }
        visibility={device.visibility}
        may={device.capabilities}
      />
    </div>
  );
}

/** Who may do what with a group of devices, and why. */
export function GroupSharingPage() {
  const { group: id } = groupRoute.useParams();
  const { group } = useSuspenseQuery(groupQuery(id)).data;
  return (
    <div className="page">
      <SharingOfThing
        shared={{ resourceType: 'device_group', id }}
        link={
          <Link to="/devices/groups/$group" params={{ group: id }}>
            {group.name}
          </Link>
        }
        visibility="private"
        may={group.capabilities}
      />
    </div>
  );
}
