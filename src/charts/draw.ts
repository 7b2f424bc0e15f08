/** Draws charts on the server: plain data in, SVG or PNG out. Loads nothing from anywhere, and runs no expression of a caller's. */
import { createRequire } from 'node:module';
import { Resvg } from '@resvg/resvg-js';
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { drawAlluvial, listFlows } from './alluvial.ts';
import { basic, sumBars, sumSlices } from './basic.ts';
import { countPoints, findStep, flatten, MOST_LINE_POINTS, nameLegend, pickNumbers, type Chart } from './chart.ts';
import { gatherCells, MOST_HEATMAP_CELLS } from './heatmap.ts';
import { makeTheme, pickGroupColors, type Look, type Size } from './look.ts';
import { byName } from './order.ts';
import { gatherSamples, MOST_SAMPLES } from './samples.ts';
import { MOST_PARALLEL, scientific } from './scientific.ts';
import { listSplits, hasSharedAxes, type Spec, type SpecMaker } from './spec.ts';
import { statistical } from './statistical.ts';

const MAKERS: Readonly<Record<string, SpecMaker>> = { ...basic, ...statistical, ...scientific, alluvial: drawAlluvial };
const FONT = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');
const MOST_FACETS = 12;
/** Dots an inch of a screen: a pixel of CSS is 1/96 inch, https://www.w3.org/TR/css-values-3/#reference-pixel. */
const SCREEN_DPI = 96;
/** Charts that are as high as they are wide, so that a circle stays one. */
const ROUND: ReadonlySet<string> = new Set(['radar', 'polar', 'ternary', 'wind-rose']);

const NO_DATA = 'No data';
const empty: SpecMaker = () => ({
  description: NO_DATA,
  data: { values: [{ t: NO_DATA }] },
  mark: { type: 'text', fontSize: 18, color: '#777' },
  encoding: { text: { field: 't', type: 'nominal' } },
});

/** One picture, or one for each facet, on the same scales unless told otherwise. */
function pictures(chart: Chart, maker: SpecMaker, size: Size): Spec {
  const side = Math.min(size.width, size.height);
  const { width, height } = ROUND.has(chart.type) ? { width: side, height: side } : size;
  const facets = [...new Set(chart.series.map(({ facet }) => facet))].filter((facet) => facet !== undefined);
  const named = facets.sort(byName.compare).slice(0, MOST_FACETS);
  const draw = (shown: Chart, of: Size): Spec => {
    const spec = maker(shown, of);
    return 'facet' in spec ? spec : { ...of, ...spec };
  };
  if (named.length < 2) return draw(chart, { width, height });
  const columns = Math.min(3, named.length);
  const isShared = hasSharedAxes(chart);
  return {
    columns,
    ...(isShared ? { resolve: { scale: { x: 'shared', y: 'shared' } } } : {}),
    concat: named.map((facet) => ({
      ...draw(
        { ...chart, series: chart.series.filter((series) => series.facet === facet), whole: chart },
        { width: width / columns, height: height / columns },
      ),
      title: facet,
    })),
  };
}

/** Cuts marks at the edge of their plot: the picture would grow around marks outside of an asked range. */
function clip(spec: Spec): Spec {
  const parts = ['layer', 'concat'].flatMap((name) => (Array.isArray(spec[name]) ? [[name, (spec[name] as Spec[]).map(clip)]] : []));
  const mark = spec['mark'];
  return {
    ...spec,
    ...(Object.fromEntries(parts) as Spec),
    ...(mark === undefined ? {} : { mark: typeof mark === 'string' ? { type: mark, clip: true } : { ...mark, clip: true } }),
  };
}

/** Types whose points are marks of their own, so that many of them are not all drawn. */
const DOTTED: ReadonlySet<string> = new Set(['scatter', 'bar', 'dot-plot', 'bubble', 'lollipop', 'polar', 'ternary', 'spc-control-chart']);

const LINED: ReadonlySet<string> = new Set(['line', 'area']);

const GROUPED: ReadonlySet<string> = new Set(['box-plot', 'violin-plot']);

/** Says how many parts of a whole are below zero, and so are no parts. */
function countBelow(sizes: Iterable<number>, what: string): string[] {
  const below = [...sizes].filter((size) => size < 0).length;
  return below === 0 ? [] : [`${below} ${below === 1 ? `${what} is` : `${what}s are`} below zero and not drawn.`];
}

/** Says what is left out of one picture of one type alone. */
function listOwnOmissions(chart: Chart): string[] {
  const first = (most: number, of: number, what: string) =>
    of > most ? [`The first ${most.toLocaleString('en')} of ${of.toLocaleString('en')} ${what} are drawn.`] : [];
  if (GROUPED.has(chart.type)) return first(MOST_SAMPLES, gatherSamples(chart, { byGroup: true }).length, 'groups');
  if (chart.type === 'heatmap') return first(MOST_HEATMAP_CELLS, gatherCells(chart).length, 'cells');
  if (chart.type === 'pie') return countBelow(sumSlices(chart).values(), 'slice');
  if (chart.type === 'ternary')
    return countBelow(
      flatten(chart).map(({ x, y, z }) => Math.min(...pickNumbers([x, y, z]))),
      'point',
    );
  const weights = chart.type === 'alluvial' ? listFlows(chart).map(({ weight }) => weight) : [];
  return countBelow(weights, 'flow');
}

/** Says which rows a picture is of. The first ones are in the order of x, so that whole bars may be among the others. */
function describePart({ axes }: Chart, { rows, sampleOf }: NonNullable<Chart['part']>): string {
  if (sampleOf !== undefined) return `Drawn from ${rows.toLocaleString('en')} of ${sampleOf.toLocaleString('en')} rows, picked evenly.`;
  const order = axes['x'] === undefined ? '' : ` in the order of ${axes['x'].title}`;
  return `Of the first ${rows.toLocaleString('en')} rows${order}; what comes after them is missing.`;
}

/** Says what a picture leaves out. */
function listOmissions(chart: Chart): string[] {
  const facets = [...new Set(chart.series.map(({ facet }) => facet))];
  const most = LINED.has(chart.type) ? MOST_LINE_POINTS : undefined;
  const step = Math.max(...facets.map((facet) => findStep({ ...chart, series: chart.series.filter((one) => one.facet === facet) }, most)));
  const named = facets.filter((facet) => facet !== undefined).length;
  const own = facets.flatMap((facet) => listOwnOmissions({ ...chart, series: chart.series.filter((one) => one.facet === facet) }));
  return [
    ...(chart.seriesLeftOut === undefined
      ? []
      : [`The first ${chart.series.length} of ${(chart.series.length + chart.seriesLeftOut).toLocaleString('en')} series are drawn.`]),
    ...new Set(own),
    ...(named > MOST_FACETS ? [`The first ${MOST_FACETS} of ${named} are drawn.`] : []),
    ...(chart.type === 'parallel-coordinates' && chart.series.some((one) => countPoints(one) > MOST_PARALLEL)
      ? [`The first ${MOST_PARALLEL} rows of each colour are drawn.`]
      : []),
    ...(chart.part === undefined ? [] : [describePart(chart, chart.part)]),
    ...((DOTTED.has(chart.type) || LINED.has(chart.type)) && step > 1
      ? [`One point of ${step} is drawn, and the least and greatest.`]
      : []),
  ];
}

const hasRange = ({ look = {} }: Chart): boolean => [look.x, look.y, look.y2].some((axis) => axis?.range !== undefined);

/** The look of a chart, with the colours that its groups have whatever its filters are. */
function keepColors(chart: Chart): Look | undefined {
  const { look, groups, series, type } = chart;
  if (groups === undefined || look?.colors !== undefined) return look;
  const slices = () => [...sumSlices(chart)].filter(([, value]) => value >= 0).map(([name]) => name);
  const all = type === 'pie' ? groups : series.flatMap(({ name }) => groups.map((color) => nameLegend(chart, { name, color, points: {} })));
  return { ...look, colors: pickGroupColors(type === 'pie' ? slices() : listSplits(chart), [...new Set(all)], look) };
}

/** Whether Vega takes a text for the name of a value, though it stands in quotes. Its parser finds the words that it knows in an object, which knows more. */
const isMisread = (text: unknown): text is string => typeof text === 'string' && (text === 'if' || text in Object.prototype);

/** Puts a blank behind titles that Vega would misread. */
function keepTitles(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(keepTitles);
  if (typeof part !== 'object' || part === null) return part;
  const kept = Object.entries(part).map(([key, value]: [string, unknown]) => {
    if (key === 'data') return [key, value];
    return [key, (key === 'title' || key === 'text') && isMisread(value) ? `${value} ` : keepTitles(value)];
  });
  return Object.fromEntries(kept);
}

const USUAL: Size = { width: 640, height: 400 };

/** The chart as a Vega-Lite specification that holds its data: what every picture is drawn from. Throws when there is no such chart type. */
export function makeSpec(given: Chart, size = USUAL): Spec {
  const summed = sumBars(given);
  const chart = { ...summed, look: keepColors(summed) };
  const maker = MAKERS[chart.type];
  if (!maker) throw new Error(`no drawing for chart type ${chart.type}`);
  const hasPoints = chart.series.some((series) => countPoints(series) > 0);
  const drawn = pictures(chart, hasPoints ? maker : empty, size);
  const title = chart.look?.title ?? chart.title;
  const omissions = listOmissions(chart);
  return keepTitles({
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    // without a title there would be no subtitle either
    title: omissions.length === 0 ? title : { text: title || ' ', subtitle: omissions },
    padding: 16,
    ...makeTheme(chart.look, size),
    ...(hasRange(chart) ? clip(drawn) : drawn),
  }) as Spec;
}

/** The chart as SVG text. Throws when there is no such chart type. */
export async function drawSvg(chart: Chart, size?: Size): Promise<string> {
  const spec = makeSpec(chart, size);
  const silent = { level: () => silent, error: () => silent, warn: () => silent, info: () => silent, debug: () => silent };
  const compiled = compile(spec as unknown as TopLevelSpec, { logger: silent });
  const view = new View(parse(compiled.spec), { renderer: 'none', loader: refusing, logger: silent });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}

const refuse = () => Promise.reject(new Error('charts load nothing'));
const refusing = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

/** The chart as PNG bytes, drawn with the font that comes with the service. */
export async function drawPng(chart: Chart, size?: Size): Promise<Buffer> {
  const svg = await drawSvg(chart, size);
  const { dpi = SCREEN_DPI } = chart.look ?? {};
  const image = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: dpi / SCREEN_DPI },
    font: { fontFiles: [FONT], loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans' },
  });
  return image.render().asPng();
}
