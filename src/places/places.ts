/** A place that a search or a look at the map found. What is not known is absent. */
export interface PlaceResult {
  /** The place in one line, for a person to choose by. */
  label: string;
  /** Degrees north, -90 to 90. */
  latitude: number;
  /** Degrees east, -180 to 180. */
  longitude: number;
  /** Absent when it is not known. */
  country?: string;
  /** State, province or the like; absent when it is not known. */
  region?: string;
  /** Town or village; absent when it is not known. */
  municipality?: string;
  /** Absent when it is not known. */
  postalCode?: string;
}

/** Finds places by name and names by place: an index in memory, or a server. Errors: places unavailable. */
export interface Places {
  /** Best match first, at most `most`. */
  search(text: string, most: number): Promise<PlaceResult[]>;
  /** What is at a point, with the point's own coordinates; null in the open sea. */
  at(latitude: number, longitude: number): Promise<PlaceResult | null>;
}

/** The parts that are known, from the smallest to the largest, each once. */
export const printLabel = (...parts: readonly (string | undefined)[]): string =>
  [...new Set(parts.filter((part) => part !== undefined && part !== ''))].join(', ');
