import { z } from 'zod';
import { errors } from '../../errors.ts';
import { readFullJson } from '../../json.ts';
import { readShape } from '../input/input.service.ts';
import { configShape, dataConfigShape } from './shape.ts';
import { CHART_FAMILIES, CHART_TYPES } from './visualizations.model.ts';

/** A chart that is drawn without being stored. The published API document is made from this shape. */
export const draftShape = z
  .strictObject({
    name: z.string().max(255).default('').describe('Title of the picture, where `config` has none; at most 255 characters.'),
    chartFamily: z.enum(CHART_FAMILIES).default('basic').describe('Shelf that the chart type stands on; `3d` has no picture.'),
    chartType: z.enum(CHART_TYPES).describe('How it is drawn.'),
    config: configShape.default({}).describe('How it looks, as the `config` of a stored chart.'),
    dataConfig: dataConfigShape.describe('What it is drawn from.'),
  })
  .describe('A chart that is drawn without being stored.');
type Draft = z.infer<typeof draftShape>;

/** Reads a chart that is drawn without being stored. Errors: invalid input, naming places in `?chart`. */
export function parseDraft(text: string): Draft {
  let value: unknown;
  try {
    value = readFullJson(text);
  } catch {
    throw errors.invalidInput().with({ problems: [{ path: '?chart', message: 'Is not valid JSON.' }] });
  }
  return readShape<Draft>(draftShape, value, '?chart');
}
