/** Something that a search found. */
export interface SearchResult {
  type: 'experiment' | 'protocol' | 'macro' | 'workbook';
  id: string;
  /** Its name. */
  title: string;
  /** Its description. */
  subtitle: string | null;
  /** Family of a protocol, language of a macro. */
  meta: string | null;
}

export interface SearchResults {
  /** Best first. */
  results: SearchResult[];
}
