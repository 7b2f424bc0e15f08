/** How a chart looks, beside what it shows. Absent members are the drawing's own choice. */
import { byName } from './order.ts';

export interface AxisLook {
  title?: string;
  /** Least and greatest value shown; ISO 8601 on an axis of time. */
  range?: readonly [number | string, number | string];
  scale?: 'linear' | 'log';
}

export interface Look {
  title?: string;
  x?: AxisLook;
  y?: AxisLook;
  /** The right axis of a chart with two. */
  y2?: AxisLook;
  z?: AxisLook;
  /** CSS hexadecimal colours of the series, in the order of the legend. */
  colors?: readonly string[];
  legend?: 'right' | 'left' | 'top' | 'bottom' | 'none';
  theme?: 'light' | 'dark';
  /** Pixels. */
  fontSize?: number;
  /** Dots an inch of a PNG. The size of a chart is given in pixels of 1/96 inch. */
  dpi?: number;
  /** Whether the small pictures of a faceted chart have one scale. */
  facetScales?: 'shared' | 'own';
}

/** Size of the plotted area. */
export interface Size {
  /** Pixels. */
  width: number;
  height: number;
}

/** Okabe and Ito's colours, which colour-blind people can tell apart. Yellow comes last, since it is faint on white. */
const CATEGORIES = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#555555', '#f0e442'] as const;
/** The same colours for a dark ground: grey and blue are lighter, and yellow is not faint there. */
const ON_DARK = ['#4aa8e0', '#e69f00', '#00c090', '#cc79a7', '#f0e442', '#d55e00', '#bbbbbb', '#56b4e9'] as const;

const THEMES = {
  light: { ground: 'white', text: '#1a1a1a', line: '#888888', grid: '#dddddd', colors: CATEGORIES },
  dark: { ground: '#16181d', text: '#e8e8e8', line: '#9a9a9a', grid: '#383c44', colors: ON_DARK },
} as const;

const FONT_SIZE = 11;

/** Colours from the least to the greatest value: those asked for, else Viridis. A dark theme leaves out its first steps, which could not be seen there. */
export const pickRamp = ({ theme = 'light', colors = [] }: Pick<Look, 'theme' | 'colors'>, count?: number): object | readonly string[] =>
  colors.length > 1 ? colors : { scheme: 'viridis', ...(count && { count }), ...(theme === 'dark' ? { extent: [0.18, 1] } : {}) };

/**
 * Background and configuration of a Vega-Lite specification. A title that is much longer than the side that it stands at is cut: the picture would grow with it.
 */
export function makeTheme(
  { theme = 'light', colors, legend = 'right', fontSize = FONT_SIZE }: Look = {},
  size: Size,
): Record<string, unknown> {
  const { ground, text, line, grid, colors: usual } = THEMES[theme];
  const category = colors && colors.length > 0 ? colors : usual;
  const labels = { labelColor: text, titleColor: text, labelFontSize: fontSize, titleFontSize: fontSize };
  return {
    background: ground,
    config: {
      aria: false,
      font: 'DejaVu Sans',
      title: { color: text, fontSize: fontSize + 3, subtitleColor: text, subtitleFontSize: fontSize },
      // a first or last label that is moved into the axis stands on its neighbour
      axis: { ...labels, labelFlush: false, labelLimit: 150, domainColor: line, tickColor: line, gridColor: grid },
      axisX: { titleLimit: 1.2 * size.width },
      axisY: { titleLimit: 1.2 * size.height },
      header: { ...labels, labelLimit: 150 },
      view: { stroke: null },
      mark: { color: category[0] },
      rule: { color: text },
      tick: { color: text },
      text: { color: text },
      legend: {
        ...labels,
        symbolBaseFillColor: line,
        symbolLimit: 30,
        labelLimit: 160,
        ...(legend === 'none' ? { disable: true } : { orient: legend }),
      },
      range: { category, ramp: pickRamp({ theme, colors }), heatmap: pickRamp({ theme, colors }) },
    },
  };
}

/**
 * Colours of groups that are drawn, in the order of their names: each has the one that it has among all groups, so that it keeps it while filters come and
 * go. Where another has that one already it gets one that is free.
 */
export function pickGroupColors(drawn: readonly string[], all: readonly string[], { theme = 'light' }: Look = {}): string[] {
  const usual = THEMES[theme].colors;
  const free = new Set<string>(usual);
  const places = new Map(all.toSorted(byName.compare).map((name, place) => [name, place]));
  return drawn.toSorted(byName.compare).map((name) => {
    const own: string = usual[(places.get(name) ?? 0) % usual.length] ?? usual[0];
    const [next = own] = free.has(own) ? [own] : free;
    free.delete(next);
    return next;
  });
}

/** The colour of the only series. */
export const pickFirstColor = ({ theme = 'light', colors }: Look = {}): string => colors?.[0] ?? THEMES[theme].colors[0];

/** Colours of what is neither axis nor data: strokes that part marks, halos, and the text in them. */
export const pickInk = ({ theme = 'light' }: Look = {}): { ground: string; text: string; line: string; grid: string } => THEMES[theme];
