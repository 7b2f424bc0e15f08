/** Reads from a stored `config` how its picture looks. A client's own settings belong under `client`, which pictures do not read. */
import { z } from 'zod';
import { errors } from '../../errors.ts';
import { AXES, isAdjusted } from '../../charts/adjusted.ts';
import { readNumber } from '../../charts/chart.ts';
import type { Look, Size } from '../../charts/look.ts';
import type { PlottedAxis } from '../../charts/plotted.model.ts';
import { readShape } from '../input/input.service.ts';
import type { Visualization } from './visualizations.model.ts';

const end = z.union([z.number(), z.iso.datetime(), z.iso.date()]);
const axis = z.strictObject({
  title: z.string().max(255).optional(),
  range: z.tuple([end, end]).optional(),
  scale: z.enum(['linear', 'log']).optional(),
});

const lookShape = z.strictObject({
  title: z.string().max(255).optional(),
  x: axis.optional(),
  y: axis.optional(),
  y2: axis.optional(),
  z: axis.optional(),
  colors: z
    .array(z.string().regex(/^#[0-9a-fA-F]{6}$/, { error: 'is no colour such as #0072b2' }))
    .max(50)
    .optional(),
  legend: z.enum(['right', 'left', 'top', 'bottom', 'none']).optional(),
  theme: z.enum(['light', 'dark']).optional(),
  fontSize: z.number().min(6).max(32).optional(),
  dpi: z.number().min(36).max(300).optional(),
  facetScales: z.enum(['shared', 'own']).optional(),
  client: z.unknown().optional(),
}) as unknown as z.ZodType<Look>;

/** Most dots of a picture: 20 million take 80 MB and a second of a processor. */
const MOST_DOTS = 20_000_000;

/** Refuses a picture of more than `MOST_DOTS` dots. */
export function requireDots({ dpi = 96 }: Look, { width, height }: Size): void {
  const dots = width * height * (dpi / 96) ** 2;
  if (dots > MOST_DOTS)
    throw errors.queryRefused(
      `A picture of ${width} × ${height} pixels at ${dpi} dots an inch has more than ${MOST_DOTS / 1_000_000} million dots: ask for a smaller one.`,
    );
}

/** Reads and checks the look of a chart's picture. Errors: an unknown member or value, which is named; a range or scale that does not fit its axis. */
export function readLook(
  { config, chartFamily, chartType }: Pick<Visualization, 'config' | 'chartFamily' | 'chartType'>,
  axes: Readonly<Record<string, PlottedAxis>>,
): Look {
  if (chartFamily === '3d')
    throw errors.queryRefused('Pictures have two dimensions: choose another chart family for this chart, or draw its data.');
  const look = readShape(lookShape, config, '/config');
  for (const name of AXES) {
    const { range, scale } = look[name] ?? {};
    if (range === undefined && scale === undefined) continue;
    const shown = axes[name];
    if (!shown || shown.kind === 'categorical')
      throw errors.queryRefused(`This chart has no ${name} axis of numbers or times that config.${name} could change.`);
    for (const [what, asked] of [
      ['range', range !== undefined],
      ['log', scale === 'log'],
    ] as const)
      if (asked && !isAdjusted(chartType, what, name))
        throw errors.queryRefused(
          `The picture of a ${chartType} draws no ${what === 'log' ? 'logarithmic scale' : 'range'} of ${name}; take it out of config.${name}.`,
        );
    if (range && !(readNumber(range[0]) < readNumber(range[1])))
      throw errors.queryRefused(`config.${name}.range is not from the lesser to the greater value.`);
    if (scale !== 'log') continue;
    if (shown.kind !== 'numeric') throw errors.queryRefused(`The ${name} axis is one of time, which has no logarithm.`);
    if (range && readNumber(range[0]) <= 0)
      throw errors.queryRefused(
        `A logarithmic axis has no place for 0 or less: begin config.${name}.range above it, or choose a linear scale.`,
      );
  }
  return look;
}
