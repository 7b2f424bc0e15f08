/** A place on a map, in degrees of WGS 84. */
export interface Place {
  /** What stands beside its point; short. */
  mark: string;
  latitude: number;
  longitude: number;
}
