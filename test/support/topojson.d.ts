declare module 'topojson-client' {
  interface Area {
    id?: string;
    properties: { name: string };
    geometry: { type: 'Polygon'; coordinates: [number, number][][] } | { type: 'MultiPolygon'; coordinates: [number, number][][][] };
  }
  export function feature(topology: unknown, object: unknown): { features: Area[] };
  export function mesh(
    topology: unknown,
    object: unknown,
    keep: (a: unknown, b: unknown) => boolean,
  ): { coordinates: [number, number][][] };
}
