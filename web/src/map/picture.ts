import type { VisualizationSpec } from 'vega-embed';
import type { Place } from './place.ts';

const SIZES = { large: { width: 900, height: 330 }, small: { width: 340, height: 260 } } as const;
type Size = keyof typeof SIZES;

/** A map never shows less than this many degrees of longitude, so that a border is in sight. */
const LEAST_DEGREES = 5;
const FILLED = 0.7;

const radians = (degrees: number) => (degrees * Math.PI) / 180;
/** How far north a latitude lies on the Mercator projection, in radians of longitude. */
const northing = (latitude: number) => Math.log(Math.tan(Math.PI / 4 + radians(Math.max(-80, Math.min(80, latitude))) / 2));
const latitudeOf = (north: number) => (2 * Math.atan(Math.exp(north)) - Math.PI / 2) * (180 / Math.PI);

/** The middle of some places, and how many pixels a radian gets so that all of them are seen. */
function viewOf(places: readonly Place[], { width, height }: { width: number; height: number }) {
  const easts = places.map(({ longitude }) => longitude);
  const norths = places.map(({ latitude }) => northing(latitude));
  const [west, east, south, north] = [Math.min(...easts), Math.max(...easts), Math.min(...norths), Math.max(...norths)];
  const across = radians(Math.max(LEAST_DEGREES, (east - west) / FILLED));
  const up = Math.max(radians(LEAST_DEGREES) * (height / width), (north - south) / FILLED);
  return {
    center: [(west + east) / 2, latitudeOf((south + north) / 2)] as [number, number],
    scale: Math.min(width / across, height / up),
  };
}

/** A map of at least one place as a Vega-Lite specification. */
export function mapOf(places: readonly Place[], borders: string, size: Size): VisualizationSpec {
  const { width, height } = SIZES[size];
  const at = { longitude: { field: 'longitude', type: 'quantitative' }, latitude: { field: 'latitude', type: 'quantitative' } } as const;
  const points = { values: places.map((place) => ({ ...place })) };
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    width,
    height,
    padding: 0,
    background: 'transparent',
    projection: {
      type: 'mercator',
      ...viewOf(places, SIZES[size]),
      translate: [width / 2, height / 2],
      clipExtent: [
        [0, 0],
        [width, height],
      ],
    },
    layer: [
      { data: { values: borders, format: { type: 'topojson', feature: 'countries' } }, mark: { type: 'geoshape', clip: true } },
      { data: points, mark: { type: 'circle', size: 420, opacity: 1, clip: true }, encoding: at },
      { data: points, mark: { type: 'text', fontSize: 13, fontWeight: 700, clip: true }, encoding: { ...at, text: { field: 'mark' } } },
    ],
    config: { view: { stroke: null } },
  };
}
