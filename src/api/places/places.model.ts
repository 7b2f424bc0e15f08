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
