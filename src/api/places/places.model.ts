/** A place that a search or a look at the map found. What is not known is absent. */
export interface PlaceResult {
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
