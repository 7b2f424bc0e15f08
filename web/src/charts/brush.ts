import type { Result } from 'vega-embed';
import type { Region } from './search.ts';

const SVG = 'http://www.w3.org/2000/svg';
/** Shorter moves of the pointer are clicks. */
const SHORTEST = 4;

interface Scale {
  (value: number): number;
  invert(at: number): number | Date;
}
interface Point {
  x: number;
  y: number;
}

/** The scale along an edge of a chart; null where it has none, as without rows. */
function scaleOf(view: Result['view'], edge: 'x' | 'y'): Scale | null {
  try {
    return view.scale(edge) as Scale;
  } catch {
    return null;
  }
}

/** The value at a place of the plot, with no more decimals than one step of the pointer tells apart. */
function valueAt(scale: Scale, at: number): number {
  const value = Number(scale.invert(at));
  const step = Math.abs(Number(scale.invert(at + 1)) - value);
  return Number(value.toFixed(Math.min(Math.max(Math.ceil(-Math.log10(step)), 0), 100)));
}

/** A region that a pointer draws over a chart. */
export interface Brush {
  /** Shows a region; null takes it away. */
  show: (region: Region | null) => void;
}

/** Lets a mouse or a pen draw a region over a chart; a finger scrolls the page. Null when the chart has no plot with two scales. */
export function startBrush(place: HTMLElement, view: Result['view'], choose: (region: Region) => void): Brush | null {
  const plot = place.querySelector<SVGGElement>('.role-frame.root > g');
  const [across, up] = [scaleOf(view, 'x'), scaleOf(view, 'y')];
  if (plot === null || across === null || up === null) return null;
  const shade = document.createElementNS(SVG, 'rect');
  shade.classList.add('region');
  const lay = (a: Point, b: Point) => {
    // a logarithmic axis has no place for values of 0 or less
    if (![a.x, a.y, b.x, b.y].every(Number.isFinite)) return shade.remove();
    shade.setAttribute('x', String(Math.min(a.x, b.x)));
    shade.setAttribute('y', String(Math.min(a.y, b.y)));
    shade.setAttribute('width', String(Math.abs(a.x - b.x)));
    shade.setAttribute('height', String(Math.abs(a.y - b.y)));
    plot.append(shade);
  };
  const clamp = (value: number, most: number) => Math.min(Math.max(value, 0), most);
  // the picture is scaled to its panel, so that its own units are not those of the screen
  const pointOf = ({ clientX, clientY }: PointerEvent): Point => {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(plot.getScreenCTM()?.inverse());
    return { x: clamp(x, view.width()), y: clamp(y, view.height()) };
  };
  const cornerOf = ({ x, y }: Region, at: 0 | 1): Point => ({
    x: clamp(across(x[at]), view.width()),
    y: clamp(up(y[at]), view.height()),
  });
  let start: Point | null = null;
  place.classList.add('brushed');
  place.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || event.pointerType === 'touch') return;
    event.preventDefault();
    place.setPointerCapture(event.pointerId);
    start = pointOf(event);
  });
  place.addEventListener('pointermove', (event) => {
    if (start !== null) lay(start, pointOf(event));
  });
  place.addEventListener('pointerup', (event) => {
    if (start === null) return;
    const [a, b] = [start, pointOf(event)];
    start = null;
    if (Math.abs(a.x - b.x) < SHORTEST || Math.abs(a.y - b.y) < SHORTEST) return;
    choose({
      x: [valueAt(across, Math.min(a.x, b.x)), valueAt(across, Math.max(a.x, b.x))],
      y: [valueAt(up, Math.max(a.y, b.y)), valueAt(up, Math.min(a.y, b.y))],
    });
  });
  return {
    show: (region) => {
      if (region === null) shade.remove();
      else lay(cornerOf(region, 0), cornerOf(region, 1));
    },
  };
}
