import { errors } from '../../errors.ts';

export const shortenName = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}…` : name);

/** Makes a 400 that names the place and says one sentence. */
export const refuseParameter = (where: string, sentence: string) =>
  errors.queryRefused(sentence).with({ problems: [{ path: `?${where}`, message: sentence }] });
