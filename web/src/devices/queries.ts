import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { ProblemError } from '../../../clients/typescript/src/problem.ts';
import type { AnswerTo } from '../../../clients/typescript/src/types.ts';
import { api, everyOf, queryClient } from '../api.ts';
import type { FleetSearch, GroupsSearch, Span } from './search.ts';

export const PAGE_SIZE = 25;
const POLL_MS = 15_000;

export type DeviceListed = AnswerTo<'/api/v1/devices', 'get'>[number];
export type DeviceDetail = AnswerTo<'/api/v1/devices/{deviceId}', 'get'>;
/** What was seen of a device, and the range in which it was looked at. */
export type Monitoring = AnswerTo<'/api/v1/devices/{deviceId}/monitoring', 'get'> & { from: string; to: string };
export type Measured = Monitoring['recentMeasurements'][number];
export type GroupDetail = AnswerTo<'/api/v1/device-groups/{groupId}', 'get'>;
export type Member = AnswerTo<'/api/v1/device-groups/{groupId}/devices', 'get'>[number];

const DAY_MS = 86_400_000;

/** The last days up to now, and whether they are counted by hour or by day. */
function rangeOf(days: Span, now = Date.now()) {
  const bucket: 'hour' | 'day' = days === 1 ? 'hour' : 'day';
  return { from: new Date(now - days * DAY_MS).toISOString(), to: new Date(now).toISOString(), bucket };
}

/** What every query of devices begins with, so that a change renews them all. */
const ALL = ['devices'];
export const renewDevices = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ALL });

/** A page of the devices that one may read, asked for again and again, since they come and go. */
export const fleetQuery = ({ search, type, scope = 'related', page = 1 }: FleetSearch) =>
  queryOptions({
    queryKey: [...ALL, 'fleet', { search, type, scope, page }],
    queryFn: async ({ signal }) => {
      const query = {
        scope,
        page,
        pageSize: PAGE_SIZE,
        ...(search === undefined ? {} : { search }),
        ...(type === undefined ? {} : { deviceType: type }),
      };
      const { data, response } = await api.GET('/api/v1/devices', { params: { query }, signal });
      return { devices: data ?? [], total: Number(response.headers.get('x-total-count')) };
    },
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });

/** Every device that is one's own or shared, to choose from. */
export const ownDevicesQuery = queryOptions({
  queryKey: [...ALL, 'own'],
  queryFn: async ({ signal }) =>
    everyOf((place) => api.GET('/api/v1/devices', { params: { query: { scope: 'related', page: 1, pageSize: 100, ...place } }, signal })),
});

/** What each device measured in the last week, and when it last did. */
export const fleetMonitoringQuery = queryOptions({
  queryKey: [...ALL, 'fleet-monitoring'],
  queryFn: async ({ signal }) => {
    const { devices, throughput } = await bodyOf(api.GET('/api/v1/devices/monitoring', { params: { query: rangeOf(7) }, signal }));
    const counts = new Map<string, number>();
    for (const { deviceId, count } of throughput) counts.set(deviceId, (counts.get(deviceId) ?? 0) + count);
    return { counts, lastData: new Map(devices.map(({ deviceId, lastDataAt }) => [deviceId, lastDataAt])) };
  },
  refetchInterval: 4 * POLL_MS,
});

/** A device, and the tag of its version for a change. */
export const deviceQuery = (deviceId: string) =>
  queryOptions({
    queryKey: [...ALL, 'one', deviceId],
    queryFn: async ({ signal }): Promise<{ device: DeviceDetail; tag: string }> => {
      const { data, response } = await api.GET('/api/v1/devices/{deviceId}', { params: { path: { deviceId } }, signal });
      if (data === undefined) throw new Error('The answer holds no device.');
      return { device: data, tag: response.headers.get('etag') ?? '*' };
    },
    refetchInterval: POLL_MS,
  });

export const monitoringQuery = (deviceId: string, days: Span) =>
  queryOptions({
    queryKey: [...ALL, 'monitoring', deviceId, days],
    queryFn: async ({ signal }): Promise<Monitoring> => {
      const range = rangeOf(days);
      const asked = api.GET('/api/v1/devices/{deviceId}/monitoring', { params: { path: { deviceId }, query: range }, signal });
      return { ...(await bodyOf(asked)), from: range.from, to: range.to };
    },
    refetchInterval: 4 * POLL_MS,
    placeholderData: keepPreviousData,
  });

/** When a device last sent data, however long ago. */
export const activityQuery = (deviceId: string) =>
  queryOptions({
    queryKey: [...ALL, 'activity', deviceId],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/devices/{deviceId}/activity', { params: { path: { deviceId } }, signal })),
    refetchInterval: 4 * POLL_MS,
  });

/** Experiments that a device is bound to. */
export const boundQuery = (deviceId: string) =>
  queryOptions({
    queryKey: [...ALL, 'bound', deviceId],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/devices/{deviceId}/experiments', { params: { path: { deviceId }, query: place }, signal })),
  });

export const groupsQuery = ({ search, page = 1 }: GroupsSearch) =>
  queryOptions({
    queryKey: [...ALL, 'groups', { search, page }],
    queryFn: async ({ signal }) => {
      const query = { scope: 'related' as const, page, pageSize: PAGE_SIZE, ...(search === undefined ? {} : { search }) };
      const { data, response } = await api.GET('/api/v1/device-groups', { params: { query }, signal });
      return { groups: data ?? [], total: Number(response.headers.get('x-total-count')) };
    },
    placeholderData: keepPreviousData,
  });

/** A group, and the tag of its version for a change. */
export const groupQuery = (groupId: string) =>
  queryOptions({
    queryKey: [...ALL, 'group', groupId],
    queryFn: async ({ signal }): Promise<{ group: GroupDetail; tag: string }> => {
      const { data, response } = await api.GET('/api/v1/device-groups/{groupId}', { params: { path: { groupId } }, signal });
      if (data === undefined) throw new Error('The answer holds no group.');
      return { group: data, tag: response.headers.get('etag') ?? '*' };
    },
  });

export const membersQuery = (groupId: string) =>
  queryOptions({
    queryKey: [...ALL, 'members', groupId],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/device-groups/{groupId}/devices', { params: { path: { groupId }, query: place }, signal })),
    refetchInterval: POLL_MS,
  });

/** What the members of a group measured in the last week. */
export const groupMonitoringQuery = (groupId: string) =>
  queryOptions({
    queryKey: [...ALL, 'group-monitoring', groupId],
    queryFn: async ({ signal }) =>
      bodyOf(api.GET('/api/v1/device-groups/{groupId}/monitoring', { params: { path: { groupId }, query: rangeOf(7) }, signal })),
    refetchInterval: 4 * POLL_MS,
  });

/** Kinds of device that firmware is published for. */
export const FAMILIES = ['ambyte', 'minipar', 'ambit'] as const;
export type Family = (typeof FAMILIES)[number];

/** Published firmware, newest first; none where the service knows of none. */
export const releasesQuery = (family: Family) =>
  queryOptions({
    queryKey: ['firmware', family],
    queryFn: async ({ signal }) => {
      try {
        return (await bodyOf(api.GET('/api/v1/iot/firmware/{family}/releases', { params: { path: { family } }, signal }))).releases;
      } catch (error) {
        if (error instanceof ProblemError && error.code === 'FIRMWARE_UNAVAILABLE') return [];
        throw error;
      }
    },
  });
