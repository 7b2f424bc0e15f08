import { readExactJson } from '../../json.ts';
import type { DeviceProcedure } from './devices.model.ts';

interface CellShape {
  id: string;
  type: string;
  name?: string;
  payload?: { protocolId?: string; name?: string; format?: 'string' | 'json' | 'yaml'; content?: string };
  question?: { kind: string; text: string; options?: string[]; required: boolean };
  answer?: string;
}

interface Snapshots {
  protocols?: Record<string, { code: unknown; family: string }>;
}

function procedureOf(cell: CellShape, snapshots: Snapshots): DeviceProcedure[] {
  const { payload, question } = cell;
  if (cell.type === 'protocol' && payload?.protocolId !== undefined) {
    const said = snapshots.protocols?.[payload.protocolId];
    // a protocol that was gone when the version was made cannot be run
    if (!said) return [];
    const name = payload.name === undefined ? {} : { name: payload.name };
    return [{ type: 'protocol', protocolId: payload.protocolId, ...name, family: said.family, code: said.code }];
  }
  if (cell.type === 'command' && payload)
    return [
      { type: 'command', format: payload.format, content: payload.content, ...(payload.name === undefined ? {} : { name: payload.name }) },
    ];
  if (cell.type === 'question' && question) {
    const { kind, text, required, options } = question;
    return [
      {
        type: 'question',
        id: cell.id,
        name: cell.name,
        kind,
        text,
        required,
        ...(options ? { options } : {}),
        answer: cell.answer ?? null,
      },
    ];
  }
  return [];
}

/**
 * Lists what a device runs of a workbook version, in the order of its cells: protocols as the version keeps them, commands, questions. Answers null when the
 * stored cells are not a list. `snapshots` is JSON text, so that numbers in code keep their digits.
 */
export function makeProcedures(cells: unknown, snapshots: string): DeviceProcedure[] | null {
  if (!Array.isArray(cells)) return null;
  const parsed = readExactJson(snapshots) as Snapshots;
  return (cells as CellShape[]).flatMap((cell) => procedureOf(cell, parsed));
}
