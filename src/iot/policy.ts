/**
 * The policy documents of devices and of people with temporary credentials.
 *
 * AWS IoT takes 10 policies a certificate and 2,048 characters a document. A device gets one base policy, the same for all: it may connect as itself (by a
 * variable) and read its own script topic. Its bindings are literal experiment ids, packed into as few documents as fit. With the longest partition and
 * region names and 32 letters of device type, 100 bindings take 8 documents: 9 policies in all. The ids are literal rather than thing attributes, because a
 * thing has 50 attributes at most, and an attribute variable is as long as the id it stands for.
 */
import { errors } from '../errors.ts';
import type { PolicyDocument } from './evaluator.ts';
import { PERSONAL_ROOT, SCRIPT_ROOT, printTopicPrefix } from './topics.ts';

/** Experiments a device may be bound to. */
export const MAX_BINDINGS = 100;
/** Policies a certificate may carry. */
export const MAX_POLICIES = 10;
/** Characters of a policy document or a session policy, without whitespace. */
export const MAX_POLICY_LENGTH = 2048;

/** The common beginning of an account's ARNs in one region: `arn:aws:iot:eu-central-1:123456789012`. */
export type ArnPrefix = string;

export const printClientArn = (prefix: ArnPrefix, clientId: string) => `${prefix}:client/${clientId}`;
export const printTopicArn = (prefix: ArnPrefix, topic: string) => `${prefix}:topic/${topic}`;
export const printTopicFilterArn = (prefix: ArnPrefix, filter: string) => `${prefix}:topicfilter/${filter}`;

const THING = '${iot:Connection.Thing.ThingName}';

/** What every device may do: connect under its own thing's name, subscribe to and receive its own scripts. */
const makeBasePolicy = (prefix: ArnPrefix): PolicyDocument => ({
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Action: 'iot:Connect', Resource: printClientArn(prefix, THING) },
    { Effect: 'Allow', Action: 'iot:Subscribe', Resource: printTopicFilterArn(prefix, `${SCRIPT_ROOT}/*/${THING}`) },
    { Effect: 'Allow', Action: 'iot:Receive', Resource: printTopicArn(prefix, `${SCRIPT_ROOT}/*/${THING}`) },
  ],
});

const publishPolicy = (resources: readonly string[]): PolicyDocument => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: 'iot:Publish', Resource: resources }],
});

/** Refuses what a registry cannot give to one thing. Errors: registryRefused. */
export function requireFitting(documents: readonly PolicyDocument[]): void {
  if (documents.length > MAX_POLICIES || documents.some((document) => measurePolicy(document) > MAX_POLICY_LENGTH))
    throw errors.registryRefused();
}

/** A document's length as AWS counts it; ours are printed without whitespace. */
export const measurePolicy = (document: PolicyDocument) => JSON.stringify(document).length;

/**
 * Makes the documents that let a device publish to the experiments that it is bound to, and nowhere else. Ids may come in any order and more than once; without
 * any there is no document. The ids are sorted, so that the same bindings always give the same text. More than 100 is `tooManyBindings`.
 */
function makeBindingPolicies(prefix: ArnPrefix, deviceType: string, experimentIds: readonly string[]): PolicyDocument[] {
  const resources = [...new Set(experimentIds)].sort().map((id) => printTopicArn(prefix, `${printTopicPrefix(id, deviceType)}/*`));
  if (resources.length > MAX_BINDINGS) throw errors.tooManyBindings(MAX_BINDINGS);
  const documents: PolicyDocument[] = [];
  let packed: string[] = [];
  for (const resource of resources) {
    const wider = [...packed, resource];
    if (packed.length > 0 && measurePolicy(publishPolicy(wider)) > MAX_POLICY_LENGTH) {
      documents.push(publishPolicy(packed));
      packed = [resource];
    } else packed = wider;
  }
  return packed.length > 0 ? [...documents, publishPolicy(packed)] : documents;
}

/** All documents of one device: the base and its bindings, at most 10. */
export const makeDevicePolicies = (prefix: ArnPrefix, deviceType: string, experimentIds: readonly string[]): PolicyDocument[] => [
  makeBasePolicy(prefix),
  ...makeBindingPolicies(prefix, deviceType, experimentIds),
];

/** Prints how the client ids begin under which a person's temporary credentials may connect. No thing name begins so, because it has `_` behind the type. */
export const printClientPrefix = (userId: string) => `u-${userId}-`;

/** The session policy of temporary credentials: one topic tree, ending in the person's id. */
export const makeSessionPolicy = (prefix: ArnPrefix, userId: string): PolicyDocument => ({
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Action: 'iot:Connect', Resource: printClientArn(prefix, `${printClientPrefix(userId)}*`) },
    { Effect: 'Allow', Action: 'iot:Publish', Resource: printTopicArn(prefix, `${PERSONAL_ROOT}/${userId}/*`) },
  ],
});
