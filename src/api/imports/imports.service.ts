import { createHash } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { DEEPEST_JSON, readExactMember } from '../../database/exact-json.ts';
import { errors } from '../../errors.ts';
import { isNestedDeeper, readJson } from '../../json.ts';
import { addExperiment } from '../experiments/experiments.service.ts';
import { readShape, refuseBody } from '../input/input.service.ts';
import { addMacro, findMacroFacts } from '../macros/macros.service.ts';
import { enqueueLetter } from '../mail/mail.service.ts';
import { addProtocol } from '../protocols/protocols.service.ts';
import { joinProtocol } from '../resources/links.service.ts';
import { grantDirectly } from '../sharing/seeding.service.ts';
import { attach } from '../workbooks/versions.service.ts';
import { addWorkbook } from '../workbooks/workbooks.service.ts';
import type { ProjectImport, ProjectImportResult } from './imports.model.ts';
import {
  claimDelivery,
  completeRequest,
  findDeliveryAnswer,
  findSame,
  forgetDeliveries,
  keepDeliveryAnswer,
  listPeople,
  type PersonRow,
} from './imports.queries.ts';
import { makeCells, projectShape } from './project.ts';

/** The parts of the service that an import needs. A command has only these. */
export type ImportTools = Pick<Context, 'db' | 'jobs' | 'config'>;

/** A project as it arrived: JSON text, and an id under which it is imported only once. */
export interface ProjectDelivery {
  id: string;
  text: string;
  /** Id of the request, for the audit. */
  requestId: string;
}

function parsedJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    throw errors.malformedJson();
  }
}

function parsed(text: string): ProjectImport {
  const value = parsedJson(text);
  if (isNestedDeeper(value, DEEPEST_JSON)) throw refuseBody([{ path: '', message: `must nest at most ${DEEPEST_JSON} levels deep` }]);
  return readShape(projectShape, withoutCode(value));
}

/** Takes the code of a protocol out of what is checked. The code may be any JSON, may nest deeper, and is kept as its own text. */
function withoutCode(value: unknown): unknown {
  const project = value as { protocol?: { code?: unknown } | null } | null;
  const code = project?.protocol?.code;
  if (typeof code !== 'object' || code === null) return value;
  return { ...project, protocol: { ...project?.protocol, code: true } };
}

async function mustBeActive(tx: Transaction, project: ProjectImport): Promise<PersonRow> {
  const named = [
    ['/experiment/createdBy', project.experiment.createdBy],
    ['/protocol/createdBy', project.protocol?.createdBy],
    ['/macro/createdBy', project.macro?.createdBy],
  ] as const;
  const people = await listPeople(
    tx,
    named.flatMap(([, userId]) => (userId === undefined ? [] : [userId])),
  );
  const active = new Map(people.filter(({ isActive }) => isActive).map((person) => [person.userId, person]));
  const problems = named.flatMap(([path, userId]) =>
    userId === undefined || active.has(userId) ? [] : [{ path, message: 'is not an active user' }],
  );
  const owner = active.get(project.experiment.createdBy);
  if (problems.length > 0 || !owner) throw refuseBody(problems);
  return owner;
}

interface Importer {
  tx: Transaction;
  ownerId: string;
  requestId: string;
}

/** Shares a protocol or macro with the owner of the experiment that uses it, when somebody else made it. */
async function shareWithOwner(
  { tx, ownerId, requestId }: Importer,
  type: 'protocol' | 'macro',
  { id, createdBy }: { id: string; createdBy: string },
): Promise<void> {
  if (createdBy === ownerId) return;
  await grantDirectly(tx, { userId: createdBy, requestId }, { type, id }, { userId: ownerId, role: 'viewer' });
}

async function importProtocol(importer: Importer, project: ProjectImport, text: string): Promise<string | null> {
  const { protocol } = project;
  if (!protocol) return null;
  const { tx, ownerId, requestId } = importer;
  const { name, description, family = 'multispeq', createdBy } = protocol;
  const code = readExactMember(readExactMember(text, 'protocol') ?? '{}', 'code') ?? 'null';
  const same = await findSame(tx, ownerId, { type: 'protocol', name, code, kind: family });
  if (same) return same.id;
  const made = await addProtocol(tx, { userId: createdBy, requestId }, { name, description, family }, code);
  await shareWithOwner(importer, 'protocol', made);
  return made.id;
}

async function importMacro(importer: Importer, { macro }: ProjectImport) {
  if (!macro) return null;
  const { tx, ownerId, requestId } = importer;
  const { name, description, language = 'javascript', code, createdBy } = macro;
  const same = await findSame(tx, ownerId, { type: 'macro', name, code, kind: language });
  if (same) return findMacroFacts(tx, same.id);
  const made = await addMacro(tx, { userId: createdBy, requestId }, { name, description, language, code });
  await shareWithOwner(importer, 'macro', made);
  return made;
}

async function write(importer: Importer, project: ProjectImport, text: string): Promise<ProjectImportResult> {
  const { tx, ownerId, requestId } = importer;
  const maker = { userId: ownerId, requestId };
  const { name, description, locations } = project.experiment;
  const protocolId = await importProtocol(importer, project, text);
  const macro = await importMacro(importer, project);
  const experimentId = await addExperiment(tx, maker, { name, description, locations });
  if (protocolId !== null && macro) await joinProtocol(tx, macro.id, protocolId, ownerId);
  const cells = makeCells(project.questions ?? [], protocolId, macro);
  const result: ProjectImportResult = {
    success: true,
    experimentId,
    protocolId,
    macroId: macro?.id ?? null,
    macroFilename: macro?.filename ?? null,
    macroName: macro?.name ?? null,
    flowId: null,
    workbookId: null,
    workbookVersionId: null,
    message: `Imported '${name}'.`,
  };
  if (cells.length === 0) return result;
  const suffix = ' - Workbook';
  const workbook = await addWorkbook(tx, maker, { name: `${name.slice(0, 255 - suffix.length)}${suffix}`, cells });
  const { pin, flowId } = await attach(tx, maker, experimentId, workbook.id);
  return { ...result, flowId, workbookId: workbook.id, workbookVersionId: pin.workbookVersionId };
}

/**
 * Brings a project over: experiment with locations, protocol, macro, their link, workbook with its first version, and flow, in one transaction.
 * A protocol or macro with the same name and code that the owner may read is used as it is. Completes the open request that the project names.
 * Errors: bad input; a maker who is not an active user; an id that was carried out already, with its answer.
 */
export const importProject = (ctx: ImportTools, { id, text, requestId }: ProjectDelivery): Promise<ProjectImportResult> =>
  ctx.db.transaction(async (tx) => {
    if ((await claimDelivery(tx, id)) === 0) {
      const kept = await findDeliveryAnswer(tx, id);
      throw errors.webhookReplayed().with({ members: { result: kept?.answer ?? null } });
    }
    await forgetDeliveries(tx);
    const project = parsed(text);
    const owner = await mustBeActive(tx, project);
    const result = await write({ tx, ownerId: owner.userId, requestId }, project, text);
    const { experimentId } = result;
    await audit(tx, null, {
      action: 'experiment.imported',
      resource: { type: 'experiment', id: experimentId },
      subjectId: owner.userId,
      details: { delivery: id },
    });
    const completed = await completeRequest(tx, {
      userId: owner.userId,
      requestId: project.requestId ?? null,
      projectIdOld: project.projectIdOld ?? null,
      experimentId,
    });
    if (completed) await audit(tx, null, { action: 'transfer-request.completed', subjectId: owner.userId, details: { ...completed } });
    if (owner.email !== null)
      await enqueueLetter(ctx, tx, {
        to: owner.email,
        letter: 'project-imported',
        data: { firstName: owner.firstName, experiment: project.experiment.name, url: `/platform/experiments/${experimentId}` },
      });
    await keepDeliveryAnswer(tx, id, result);
    return result;
  });

/**
 * Imports an exported project file, which holds the JSON that the webhook takes. `ownerId` stands in where the file names no `createdBy`. One file is imported
 * once.
 */
export async function importProjectFile(ctx: ImportTools, text: string, ownerId?: string): Promise<ProjectImportResult> {
  const project = parsedJson(text);
  const id = `file:${createHash('sha256')
    .update(`${ownerId ?? ''}\n${text}`)
    .digest('hex')}`;
  return importProject(ctx, { id, text: ownerId === undefined ? text : withOwner(project, text, ownerId), requestId: id.slice(0, 64) });
}

/** Adds an owner to the text wherever none is named. Numbers in code keep their digits. */
function withOwner(project: unknown, text: string, ownerId: string): string {
  if (typeof project !== 'object' || project === null) return text;
  const members = Object.keys(project).map((name) => {
    const member = readExactMember(text, name) ?? 'null';
    const isPart = ['experiment', 'protocol', 'macro'].includes(name) && member.startsWith('{');
    const owned = isPart && readExactMember(member, 'createdBy') === undefined;
    const body = owned ? `{"createdBy":${JSON.stringify(ownerId)}${member === '{}' ? '' : ','}${member.slice(1)}` : member;
    return `${JSON.stringify(name)}:${body}`;
  });
  return `{${members.join(',')}}`;
}
