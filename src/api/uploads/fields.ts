import { z } from 'zod';
import { SOURCE_KINDS } from '../../ingest/limits.ts';
import { isTableName, TABLE_NAME } from '../../ingest/names.ts';

const sentence = 'must be 1 to 63 letters, digits and underscores, a letter first, and not raw_data or device';
const sourceKind = z.enum(SOURCE_KINDS);

/** The fields of an upload, which come before its files; the published document is made from it. */
export const fieldsShape = z.discriminatedUnion('targetKind', [
  z.object({
    sourceKind,
    targetKind: z.literal('new'),
    targetName: z.string().regex(TABLE_NAME, { error: sentence, abort: true }).refine(isTableName, sentence),
  }),
  z.object({ sourceKind, targetKind: z.literal('existing'), uploadTableId: z.guid() }),
]);
export type Fields = z.infer<typeof fieldsShape>;
