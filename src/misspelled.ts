import { measureDistance } from './lakehouse/terms/near.ts';

/** First words of names that other programs are not known to use. */
const OURS = /^(AWS_IOT|DUCKDB|FIRMWARE|LAKE|MACRO|S3|SMTP|WEBHOOK)_/i;

/** A short name differs in one letter from that of many another program, `BROKER` in two from `BROWSER`. */
const isNear = (given: string, name: string) => measureDistance(given.toUpperCase(), name, 2) <= (name.length < 9 ? 1 : 2);

/** Says which of the variables that are given look like a setting and are none; undefined where none does. */
export function describeMisspelled(given: readonly string[], settings: readonly string[]): string | undefined {
  const told = given
    .filter((name) => !settings.includes(name))
    .flatMap((name) => {
      const near = settings.filter((each) => isNear(name, each));
      if (near.length > 0) return [`${name} (${near.join(' or ')}?)`];
      return OURS.test(name) ? [name] : [];
    });
  return told.length === 0 ? undefined : `These environment variables look like settings and are none: ${told.join(', ')}.`;
}
