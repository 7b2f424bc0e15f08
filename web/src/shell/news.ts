/** What is new, newest first, each with the day on which it came. */
export const NEWS = [
  {
    day: '2026-11-29',
    title: 'Change what you said, and your keys',
    text: 'A comment or flag of yours is changed on the page of its row, and an API key on your account page, where it can be switched off for a while.',
  },
  {
    day: '2026-11-29',
    title: 'What an organization owns',
    text: 'Each organization has a page of its experiments, devices, macros, protocols and workbooks, as far as you may read them.',
  },
  {
    day: '2026-11-29',
    title: 'Folders',
    text: 'Drop or choose a whole folder for an upload, such as the card of an Ambyte.',
  },
  {
    day: '2026-11-29',
    title: 'Firmware',
    text: 'The page of a device shows which firmware it has run, and when.',
  },
  {
    day: '2026-11-28',
    title: 'Two who save the same',
    text: 'Settings that somebody else changed meanwhile offer both versions, as dashboards and metadata do.',
  },
  {
    day: '2026-11-28',
    title: 'Rows by keyboard',
    text: 'Go up from the first row to the names of the columns; Enter sorts by the one that you are at.',
  },
] as const;
