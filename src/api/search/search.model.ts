/** Something that a search found. */
export interface SearchResult {
  /** What kind of thing was found. */
  type: 'experiment' | 'protocol' | 'macro' | 'workbook';
  /** Names it among things of its kind. */
  id: string;
  /** Its name. */
  title: string;
  /** Its description; null without one. */
  subtitle: string | null;
  /** Family of a protocol, language of a macro; null for others. */
  meta: string | null;
}

/** What a search found. */
export interface SearchResults {
  /** Best first. */
  results: SearchResult[];
}
