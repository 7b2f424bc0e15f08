/** The axes whose look can be asked for. */
export const AXES = ['x', 'y', 'y2', 'z'] as const;
export type AxisName = (typeof AXES)[number];
interface Adjusted {
  range: readonly AxisName[];
  log: readonly AxisName[];
}

const both = (...axes: AxisName[]): Adjusted => ({ range: axes, log: axes });
/** Axes that take a range only: bins and density curves are equally wide everywhere, and a logarithm would bend them. */
const rangeOnly = (...axes: AxisName[]): Adjusted => ({ range: axes, log: [] });

/**
 * The straight axes of each type of chart, by channel, whose range or logarithm can be asked for. Types that are not listed have none: cells by name, circles,
 * shares.
 */
const ADJUSTED: Readonly<Record<string, Adjusted>> = {
  line: both('x', 'y', 'y2'),
  scatter: both('x', 'y', 'y2'),
  bar: both('x', 'y', 'y2'),
  area: both('x', 'y', 'y2'),
  'dot-plot': both('x', 'y'),
  bubble: both('x', 'y'),
  lollipop: both('x', 'y'),
  'box-plot': both('y'),
  'violin-plot': both('y'),
  'spc-control-chart': both('x', 'y'),
  histogram: rangeOnly('y'),
  'density-plot': rangeOnly('y'),
  'ridge-plot': rangeOnly('y'),
  'histogram-2d': rangeOnly('x', 'y'),
};

/** Whether charts of a type follow the range or the logarithm that is asked of an axis. */
export const isAdjusted = (type: string, what: keyof Adjusted, axis: AxisName): boolean => ADJUSTED[type]?.[what].includes(axis) ?? false;
