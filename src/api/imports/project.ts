import { z } from 'zod';
import { isName, NAME_RULE } from '../../contract/names.ts';
import { canonicaliseQuestion, isReservedColumn } from '../flow/flow.service.ts';
import type { WorkbookCell } from '../workbooks/workbooks.model.ts';
import type { ImportedQuestion, ProjectImport } from './imports.model.ts';

const id = z.guid().toLowerCase();
const name = z.string().trim().max(255).refine(isName, `must be ${NAME_RULE}`);
const named = { name, description: z.string().max(100_000).nullable().optional(), createdBy: id };
const part = (most: number) => z.string().max(most).optional();

const location = z.object({
  name,
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  country: part(100),
  region: part(100),
  municipality: part(100),
  postalCode: part(20),
  addressLabel: part(1000),
});

const question = z
  .object({
    kind: z.enum(['yes_no', 'open_ended', 'multi_choice', 'number']),
    text: z.string().min(1).max(64),
    options: z.array(z.string().min(1).max(64)).max(500).optional(),
    required: z.boolean().optional(),
  })
  .refine(({ kind, options }) => kind !== 'multi_choice' || (options?.length ?? 0) > 0, {
    path: ['options'],
    message: 'must hold at least one option',
  });

/** A project, from a webhook or a file. */
export const projectShape: z.ZodType<ProjectImport> = z.object({
  experiment: z.object({ ...named, locations: z.array(location).max(1_000).optional() }),
  protocol: z
    .object({
      ...named,
      code: z.unknown().refine((code) => code !== null && code !== undefined, 'must be a JSON value, and not null'),
      family: z.enum(['multispeq', 'ambyte', 'minipar', 'generic', 'ambit']).optional(),
    })
    .nullable()
    .optional(),
  macro: z
    .object({ ...named, language: z.enum(['python', 'r', 'javascript']).optional(), code: z.string().min(1).max(1_400_000) })
    .nullable()
    .optional(),
  questions: z.array(question).max(200).optional(),
  requestId: id.optional(),
  projectIdOld: z.string().trim().min(1).max(255).optional(),
});

/** Finds a name for a question that no other question and no column of every measurement has: its own name, or else its name with a number. */
function freeName(text: string, taken: Set<string>): string {
  for (let attempt = 1; ; attempt += 1) {
    const suffix = attempt === 1 ? '' : ` ${attempt}`;
    const name = `${text.trim().slice(0, 64 - suffix.length) || 'Question'}${suffix}`;
    const column = canonicaliseQuestion(name);
    if (taken.has(column) || isReservedColumn(column)) continue;
    taken.add(column);
    return name;
  }
}

/** Makes the cells of an imported project: its questions in order, then the measurement, then the analysis. */
export function makeCells(
  questions: readonly ImportedQuestion[],
  protocolId: string | null,
  macro: { id: string; language: string } | null,
): WorkbookCell[] {
  const taken = new Set<string>();
  return [
    ...questions.map(({ kind, text, options, required = false }, index): WorkbookCell => ({
      id: `q_${index + 1}`,
      type: 'question',
      name: freeName(text, taken),
      question: { kind, text, required, ...(kind === 'multi_choice' ? { options } : {}) },
    })),
    ...(protocolId === null
      ? []
      : [{ id: 'measurement', type: 'protocol' as const, payload: { protocolId, version: 1, name: 'Measurement' } }]),
    ...(macro === null
      ? []
      : [{ id: 'analysis', type: 'macro' as const, payload: { macroId: macro.id, language: macro.language, name: 'Analysis' } }]),
  ];
}
