/** What the pages of protocols say. */
export const protocols = {
  json: 'Any JSON value but null: what the instrument is sent.',
  notJson: 'This is not JSON yet.',
  isNull: 'null is no protocol: write what the instrument is to run.',
} as const;
