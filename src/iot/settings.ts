import { isIP } from 'node:net';
import { z } from 'zod';
import { StartError } from '../errors.ts';

const onOff = z.enum(['on', 'off']).transform((text) => text === 'on');

/** The settings of the broker and of the registry of devices, by name. */
export const IOT_ENVIRONMENT = {
  /** `off` runs no MQTT broker in this process; `on` runs one with the worker, unless the registry is AWS IoT. */
  BROKER: onOff.default(true),
  /** 8883 when unset, or a free one where that is taken. */
  BROKER_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  /** Name or address that devices reach the broker at; it is in the broker's certificate. */
  BROKER_HOSTNAME: z
    .string()
    .max(253)
    .refine((name) => isIP(name) !== 0 || /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(name), 'it must be a host name or an address')
    .default('localhost'),
  /** Region of AWS IoT Core; unset: the registry and broker of this machine. */
  AWS_IOT_REGION: z.string().min(1).optional(),
  AWS_IOT_ACCOUNT: z
    .string()
    .regex(/^\d{12}$/, 'it must be 12 digits')
    .optional(),
  AWS_IOT_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  AWS_IOT_THING_GROUP: z.string().min(1).optional(),
  /** The role that temporary credentials of people are for. */
  AWS_IOT_ROLE_ARN: z.string().startsWith('arn:').optional(),
};

/** Reads which broker and registry the settings ask for. Throws StartError when AWS IoT is half given. */
export function readIotSettings(env: z.infer<z.ZodObject<typeof IOT_ENVIRONMENT>>) {
  const { AWS_IOT_REGION: region, AWS_IOT_ACCOUNT: account } = env;
  if ((region === undefined) !== (account === undefined))
    throw new StartError('AWS_IOT_REGION and AWS_IOT_ACCOUNT must be given together.');
  const aws =
    region === undefined || account === undefined
      ? undefined
      : { region, account, endpoint: env.AWS_IOT_ENDPOINT, group: env.AWS_IOT_THING_GROUP ?? null, roleArn: env.AWS_IOT_ROLE_ARN };
  return {
    /** Whether the embedded broker runs beside the worker. */
    broker: env.BROKER && aws === undefined,
    /** The port that was asked for; undefined: the usual one where it is free, else any. */
    port: env.BROKER_PORT,
    hostname: env.BROKER_HOSTNAME,
    /** Undefined: the embedded registry. */
    aws,
  };
}
