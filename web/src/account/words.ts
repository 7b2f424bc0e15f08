const BROWSERS: readonly [RegExp, string][] = [
  [/Edg\w*\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|CriOS)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: readonly [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];
const find = (known: readonly [RegExp, string][], text: string) => known.find(([pattern]) => pattern.test(text))?.[1];

/** Names a browser as a person does, by what it says of itself: `Firefox on Windows`. What is not known is named as it is. */
export function nameBrowser(userAgent: string): string {
  const [browser, system] = [find(BROWSERS, userAgent), find(SYSTEMS, userAgent)];
  return browser === undefined ? userAgent : `${browser}${system === undefined ? '' : ` on ${system}`}`;
}

/** What happened to an account, by the name of the action. */
export const EVENTS: Readonly<Record<string, string>> = {
  'user.created': 'The account was made',
  'user.updated': 'The account was changed',
  'user.profile-changed': 'The profile was changed',
  'session.created': 'Signed in',
  'session.refused': 'A sign-in was refused',
  'session.ended': 'Signed out, or a session was ended',
  'api-key.created': 'A key was made',
  'api-key.updated': 'A key was changed',
  'api-key.revoked': 'A key was revoked',
  'passkey.created': 'A passkey was added',
  'passkey.updated': 'A passkey was renamed',
  'passkey.deleted': 'A passkey was removed',
  'provider.linked': 'A provider was linked',
  'provider.unlinked': 'A provider was unlinked',
};
