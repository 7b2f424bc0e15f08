/** A place that was found. Texts that are not known are absent. */
export interface Place {
  /** What a person reads: municipality, region, country. */
  label: string;
  /** Degrees north. */
  latitude: number;
  /** Degrees east. */
  longitude: number;
  country?: string;
  region?: string;
  municipality?: string;
  postalCode?: string;
}

/** Finds places by name and names by place: an index in memory, or a server. Errors: places unavailable. */
export interface Places {
  /** Best match first, at most `most`. */
  search(text: string, most: number): Promise<Place[]>;
  /** What is at a point, with the point's own coordinates; null in the open sea. */
  at(latitude: number, longitude: number): Promise<Place | null>;
}

/** The parts that are known, from the smallest to the largest, each once. */
export const printLabel = (...parts: readonly (string | undefined)[]): string =>
  [...new Set(parts.filter((part) => part !== undefined && part !== ''))].join(', ');
