export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'fieldlake.theme';

/** The theme that was chosen in this browser; `system` when none was. */
export function readTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return THEMES.find((theme) => theme === stored) ?? 'system';
}

/** Shows a theme and remembers it; `system` follows the operating system. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(STORED, theme);
  showTheme(theme);
}

/** Shows a theme. The style sheet follows the operating system wherever no theme is named. */
export function showTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
