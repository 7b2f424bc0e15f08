/** A thing's policies in AWS IoT: numbered names, updated in place, so that a change reaches every certificate of the thing. */
import { createHash } from 'node:crypto';
import type { IoTClient } from '@aws-sdk/client-iot';
import {
  AttachPolicyCommand,
  CreatePolicyCommand,
  CreatePolicyVersionCommand,
  DeletePolicyCommand,
  DeletePolicyVersionCommand,
  DetachPolicyCommand,
  GetPolicyCommand,
  ListPolicyVersionsCommand,
  paginateListTargetsForPolicy,
} from '@aws-sdk/client-iot';
import type { PolicyDocument } from '../evaluator.ts';
import { MAX_POLICIES, requireFitting } from '../policy.ts';
import { readAllPages, askAws, findAwsErrorName, translateAwsError, findInAws } from './aws-errors.ts';

/** Policy names take no colon, so a thing's name goes in hashed. */
const policyName = (thingName: string, index: number) =>
  `fieldlake-${createHash('sha256').update(thingName).digest('hex').slice(0, 40)}-${index}`;

/** The part of the AWS registry that makes, attaches, narrows and removes policies. */
export function openAwsPolicies(client: IoTClient) {
  async function dropOldVersions(name: string): Promise<void> {
    const answer = await findInAws(client.send(new ListPolicyVersionsCommand({ policyName: name })));
    for (const { versionId, isDefaultVersion } of answer?.policyVersions ?? []) {
      if (!isDefaultVersion) await findInAws(client.send(new DeletePolicyVersionCommand({ policyName: name, policyVersionId: versionId })));
    }
  }

  async function put(name: string, document: PolicyDocument): Promise<void> {
    const policyDocument = JSON.stringify(document);
    const existing = await findInAws(client.send(new GetPolicyCommand({ policyName: name })));
    if (!existing) {
      try {
        await client.send(new CreatePolicyCommand({ policyName: name, policyDocument }));
      } catch (cause) {
        if (findAwsErrorName(cause) !== 'ResourceAlreadyExistsException') throw translateAwsError(cause);
        await put(name, document);
      }
    } else if (existing.policyDocument !== policyDocument) {
      await dropOldVersions(name);
      await askAws(client.send(new CreatePolicyVersionCommand({ policyName: name, policyDocument, setAsDefault: true })));
    }
  }

  async function remove(name: string): Promise<void> {
    for (const target of await readAllPages(paginateListTargetsForPolicy({ client }, { policyName: name }), ({ targets }) => targets)) {
      await findInAws(client.send(new DetachPolicyCommand({ policyName: name, target })));
    }
    await dropOldVersions(name);
    await findInAws(client.send(new DeletePolicyCommand({ policyName: name })));
  }

  return {
    /** Makes these documents the only policies of a thing, and attaches them to these certificate ARNs. */
    async set(thingName: string, documents: readonly PolicyDocument[], targets: readonly string[]): Promise<void> {
      requireFitting(documents);
      for (const [index, document] of documents.entries()) {
        const name = policyName(thingName, index);
        await put(name, document);
        for (const target of targets) await askAws(client.send(new AttachPolicyCommand({ policyName: name, target })));
      }
      // surplus policies are removed from the last one on: the search ends at the first number that is missing, so after a crash it still finds the rest
      const surplus: string[] = [];
      for (let index = documents.length; index < MAX_POLICIES; index++) {
        const name = policyName(thingName, index);
        if (!(await findInAws(client.send(new GetPolicyCommand({ policyName: name }))))) break;
        surplus.unshift(name);
      }
      for (const name of surplus) await remove(name);
    },
  };
}
