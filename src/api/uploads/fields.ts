import { z } from 'zod';
import { readJson } from '../../json.ts';
import { readShape, refuseBody } from '../input/input.service.ts';
import { MAX_COLUMNS, SOURCE_KINDS, type SourceKind } from '../../ingest/limits.ts';
import { isTableName, TABLE_NAME } from '../../ingest/uploads/names.ts';
import { DAY_ORDERS, ENCODINGS, TYPE_WORDS, type ReadingOptions } from '../../ingest/typing/readings.ts';

const sentence = 'must be 1 to 63 letters, digits and underscores, a letter first, and not raw_data or device';
const sourceKind = z.enum(SOURCE_KINDS).describe('Kind of all files of the upload.');

const MOST_MARKS = 100;
const marks = z.array(z.string().max(100)).max(MOST_MARKS);
const types = z.record(z.string().max(255), z.enum(TYPE_WORDS));

/** Parses a field that holds JSON. */
function parsed(text: string, context: z.RefinementCtx): unknown {
  try {
    return readJson(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' });
    return z.NEVER;
  }
}

/** How files are read, most of it of the text of csv, tsv and xlsx files. Where a field is absent, the values in the file decide. */
const reading = {
  missing: z
    .string()
    .max(10_000)
    .transform((text, context) => (text.startsWith('[') ? parsed(text, context) : text.split(',').map((mark) => mark.trim())))
    .pipe(marks)
    .optional()
    .describe(
      `What stands for a missing value: marks with commas between them, or a JSON list of at most ${MOST_MARKS}. An empty field is missing in any case.`,
    ),
  decimal: z.enum(['.', ',']).optional().describe('What stands before the fraction of a number.'),
  dateOrder: z.enum(DAY_ORDERS).optional().describe('In which order day, month and year stand.'),
  types: z
    .string()
    .max(100_000)
    .transform(parsed)
    .pipe(types)
    .optional()
    .describe(
      `A JSON object of column names and their types: ${TYPE_WORDS.join(', ')}. What does not fit is kept as text beside the column.`,
    ),
  leaveOut: z
    .string()
    .max(1_000_000)
    .transform(parsed)
    .pipe(z.array(z.string().max(255)).max(MAX_COLUMNS))
    .optional()
    .describe('A JSON list of columns that are not stored, by their names in the table or in the file. The report names them.'),
  encoding: z
    .enum(ENCODINGS)
    .optional()
    .describe('Of csv and tsv files how their characters are written; UTF-8 when absent. A byte order mark at the beginning counts more.'),
  headerRow: z
    .string()
    .regex(/^[1-9][0-9]{0,2}$/, 'must be a number from 1 to 999')
    .transform(Number)
    .optional()
    .describe(
      'Of csv and tsv files the line of the header, of xlsx files its row in the sheet, counted from 1. When absent, the first that holds something, or the one below a title: rows that hold one text alone.',
    ),
  unitsRow: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe(
      'Of csv, tsv and xlsx files whether the row below the header has units, such as `cm`, and is no record. Where it has only words and blanks, above numbers and times, it is taken for one when absent.',
    ),
  sheet: z.string().min(1).max(100).optional().describe('Of xlsx files the sheet that is read; the first that is not hidden when absent.'),
};

const made = z.object({
  sourceKind,
  targetKind: z.literal('new').describe('The files make a new table, which is for owners and admins of the experiment.'),
  targetName: z
    .string()
    .regex(TABLE_NAME, { error: sentence, abort: true })
    .refine(isTableName, sentence)
    .describe('With `new`, the name of the table: 1 to 63 letters, digits and underscores, a letter first, and not raw_data or device.'),
  ...reading,
});
const joined = z.object({
  sourceKind,
  targetKind: z.literal('existing').describe('The files go into a table that is there.'),
  uploadTableId: z.guid().describe('Upload table that the files go into; with `existing`.'),
  ...reading,
});

const NEITHER = { error: 'must be one of new, existing' };

/** The fields of an upload, which come before its files. The published API document is made from this shape. */
export const fieldsShape = z.discriminatedUnion('targetKind', [made, joined], NEITHER);
export type Fields = z.infer<typeof fieldsShape>;

/** The fields of a preview: those of an upload, except that a new table need not have a name yet. */
export const previewShape = z.discriminatedUnion('targetKind', [made.partial({ targetName: true }), joined], NEITHER);
export type PreviewFields = z.infer<typeof previewShape>;

/** The reading fields that do not apply to every kind of files. */
type OfSome = Exclude<keyof ReadingOptions, 'leaveOut'>;

/** Kinds of files whose values are text, each with those reading fields that apply to it. */
const USEFUL: Partial<Record<SourceKind, readonly OfSome[]>> = {
  csv: ['missing', 'decimal', 'dateOrder', 'types', 'headerRow', 'unitsRow', 'encoding'],
  tsv: ['missing', 'decimal', 'dateOrder', 'types', 'headerRow', 'unitsRow', 'encoding'],
  xlsx: ['missing', 'decimal', 'dateOrder', 'types', 'headerRow', 'unitsRow', 'sheet'],
};

/** Collects the reading options from the fields. `useless` names the first given option that does not apply to this kind of files. */
export function makeReading(fields: PreviewFields): { options: ReadingOptions; useless: OfSome | undefined } {
  const { missing, decimal, dateOrder, types: wanted, headerRow, unitsRow, leaveOut, encoding, sheet } = fields;
  const options: ReadingOptions = { missing, decimal, dateOrder, types: wanted, headerRow, unitsRow, leaveOut, encoding, sheet };
  const useful = USEFUL[fields.sourceKind] ?? [];
  const ofSome = Object.keys(USELESS) as OfSome[];
  return { options, useless: ofSome.find((name) => options[name] !== undefined && !useful.includes(name)) };
}

const AS_TEXT = 'is for csv, tsv and xlsx files; other kinds say themselves what their values are';
const USELESS: Readonly<Record<OfSome, string>> = {
  missing: AS_TEXT,
  decimal: AS_TEXT,
  dateOrder: AS_TEXT,
  types: AS_TEXT,
  headerRow: AS_TEXT,
  unitsRow: AS_TEXT,
  encoding: 'is for csv and tsv files',
  sheet: 'is for xlsx files',
};

/** Checks fields against their shape. Errors: invalidInput. */
export function checkFields<Told extends PreviewFields>(shape: z.ZodType<Told>, given: Record<string, string>): Told {
  const fields = readShape(shape, given);
  const { useless } = makeReading(fields);
  if (useless !== undefined) throw refuseBody([{ path: `/${useless}`, message: USELESS[useless] }]);
  return fields;
}
