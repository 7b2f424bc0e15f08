import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo, BodyOf } from '../../../clients/typescript/src/types.ts';
import { api } from '../api.ts';
import { renewDevices } from './queries.ts';

const DEVICE = '/api/v1/devices/{deviceId}';
const GROUP = '/api/v1/device-groups/{groupId}';

export type Bundle = AnswerTo<'/api/v1/devices/{deviceId}/credentials', 'post'>;
export type GroupBundles = AnswerTo<'/api/v1/device-groups/{groupId}/credentials', 'post'>['devices'];
export type Onboarding = AnswerTo<'/api/v1/devices/{deviceId}/onboard', 'post'>;
type NewDevice = BodyOf<'/api/v1/devices', 'post'>;
type NewDevices = BodyOf<'/api/v1/devices/bulk', 'post'>;
export type Registered = AnswerTo<'/api/v1/devices/bulk', 'post'>;
export type InstrumentType = NewDevice['deviceType'];

/** Waits for a change, then asks anew for what is shown of devices. */
async function renewAfter<T>(change: Promise<T>): Promise<T> {
  const answer = await change;
  await renewDevices();
  return answer;
}

const ofDevice = (deviceId: string) => ({ params: { path: { deviceId } } });
const ofGroup = (groupId: string) => ({ params: { path: { groupId } } });
const ifUnchanged = (tag: string) => ({ headers: { 'if-match': tag } });

export const registerDevice = (body: NewDevice) => renewAfter(bodyOf(api.POST('/api/v1/devices', { body })));
export const registerDevices = (body: NewDevices) => renewAfter(bodyOf(api.POST('/api/v1/devices/bulk', { body })));

/** Gives a device another name, unless somebody changed it since its tag was read; an empty one takes the name away. */
export const renameDevice = (deviceId: string, tag: string, name: string) =>
  renewAfter(api.PATCH(DEVICE, { ...ofDevice(deviceId), ...ifUnchanged(tag), body: { name: name === '' ? null : name } }));

/** Removes a device. What is shown of devices is asked for anew after its page was left. */
export const removeDevice = (deviceId: string) => api.DELETE(DEVICE, ofDevice(deviceId));

/** Makes the first certificate of a device; `rotateCertificate` replaces it. Only this answer holds the private key. */
export const issueCertificate = (deviceId: string): Promise<Bundle> =>
  renewAfter(bodyOf(api.POST('/api/v1/devices/{deviceId}/credentials', { ...ofDevice(deviceId), body: {} })));
export const rotateCertificate = (deviceId: string): Promise<Bundle> =>
  renewAfter(bodyOf(api.POST('/api/v1/devices/{deviceId}/credentials/rotate', { ...ofDevice(deviceId), body: {} })));
export const revokeCertificate = (deviceId: string) => renewAfter(api.DELETE('/api/v1/devices/{deviceId}/credentials', ofDevice(deviceId)));

/** Binds a device to experiments, and answers where it may publish now. */
export const bindDevice = (deviceId: string, experimentIds: string[]): Promise<Onboarding> =>
  renewAfter(
    bodyOf(api.POST('/api/v1/devices/{deviceId}/onboard', { ...ofDevice(deviceId), body: { experimentIds, includeWorkbook: false } })),
  );
export const unbindDevice = (deviceId: string, id: string) =>
  renewAfter(api.DELETE('/api/v1/experiments/{id}/devices/{deviceId}', { params: { path: { id, deviceId } } }));

export const makeGroup = (body: BodyOf<'/api/v1/device-groups', 'post'>) => renewAfter(bodyOf(api.POST('/api/v1/device-groups', { body })));
export const changeGroup = (groupId: string, tag: string, body: { name: string; description: string | null }) =>
  renewAfter(api.PATCH(GROUP, { ...ofGroup(groupId), ...ifUnchanged(tag), body }));
/** Removes a group. What is shown of groups is asked for anew after its page was left. */
export const removeGroup = (groupId: string) => api.DELETE(GROUP, ofGroup(groupId));
export const addMember = (groupId: string, deviceId: string) =>
  renewAfter(api.POST('/api/v1/device-groups/{groupId}/devices', { ...ofGroup(groupId), body: { deviceIds: [deviceId] } }));
export const removeMember = (groupId: string, deviceId: string) =>
  renewAfter(api.DELETE('/api/v1/device-groups/{groupId}/devices/{deviceId}', { params: { path: { groupId, deviceId } } }));
export const issueGroupCertificates = async (groupId: string): Promise<GroupBundles> =>
  (await renewAfter(bodyOf(api.POST('/api/v1/device-groups/{groupId}/credentials', { ...ofGroup(groupId), body: {} })))).devices;
export const rotateGroupCertificates = async (groupId: string): Promise<GroupBundles> =>
  (await renewAfter(bodyOf(api.POST('/api/v1/device-groups/{groupId}/credentials/rotate', { ...ofGroup(groupId), body: {} })))).devices;
export const revokeGroupCertificates = async (groupId: string) =>
  (await renewAfter(bodyOf(api.POST('/api/v1/device-groups/{groupId}/credentials/revoke', { ...ofGroup(groupId), body: {} })))).devices;
export const bindGroup = async (groupId: string, experimentIds: string[]) =>
  (
    await renewAfter(
      bodyOf(api.POST('/api/v1/device-groups/{groupId}/onboard', { ...ofGroup(groupId), body: { experimentIds, includeWorkbook: false } })),
    )
  ).devices;
