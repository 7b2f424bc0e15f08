/** The MQTT topics that measurements are published to. Nothing else in the code takes a topic apart. */

/** Of which experiment and sensor a measurement is. */
interface Sensor {
  /** UUID, lower case. */
  experimentId: string;
  sensorType: string;
  sensorVersion: string;
  sensorId: string;
}

/** From a device: `experiment/data_ingest/v1/{experimentId}/{sensorType}/{sensorVersion}/{sensorId}[/{protocolId}]`. */
export interface MeasurementTopic extends Sensor {
  kind: 'measurement';
  /** The trailing id of the longer shape; it beats the payload's `protocol_id`. */
  protocolId: string | null;
}

/** From a person with temporary credentials: `data_ingest/v1/u/{userId}/{experimentId}/{sensorType}/{sensorVersion}/{sensorId}`. */
export interface PersonalTopic extends Sensor {
  kind: 'personal';
  /** UUID, lower case. */
  userId: string;
}

export type Topic = MeasurementTopic | PersonalTopic;

/** AWS IoT takes at most 256 bytes and 7 slashes; the longest shapes here have exactly 7. */
const LONGEST_TOPIC = 256;

/** A UUID in lower case. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A topic level that is one literal: not empty, no separator, no wildcard, no control or lone surrogate character. */
export const isLevel = (text: string): boolean => text !== '' && !/[/+#\p{Cc}]/u.test(text) && text.isWellFormed();

/** Everything a device may publish under, up to the experiment. */
const MEASUREMENT_ROOT = 'experiment/data_ingest/v1';
/** Everything people with temporary credentials may publish under, up to the person. */
export const PERSONAL_ROOT = 'data_ingest/v1/u';
/** Everything sent to devices: `device/scripts/v1/{sensorType}/{sensorVersion}/{thingName}`. */
export const SCRIPT_ROOT = 'device/scripts/v1';

const levelsBelow = (topic: string, root: string): string[] | null =>
  topic.startsWith(`${root}/`) ? topic.slice(root.length + 1).split('/') : null;

function parseSensor([experimentId, sensorType, sensorVersion, sensorId, ...more]: string[]): Sensor | null {
  if (!experimentId || !sensorType || !sensorVersion || !sensorId || more.length > 0 || !UUID.test(experimentId)) return null;
  return { experimentId, sensorType, sensorVersion, sensorId };
}

function parseMeasurement(levels: string[]): MeasurementTopic | null {
  const [protocolId = null, ...more] = levels.slice(4);
  const sensor = more.length > 0 ? null : parseSensor(levels.slice(0, 4));
  return sensor && { kind: 'measurement', ...sensor, protocolId };
}

function parsePersonal([userId = '', ...levels]: string[]): PersonalTopic | null {
  const sensor = UUID.test(userId) ? parseSensor(levels) : null;
  return sensor && { kind: 'personal', userId, ...sensor };
}

const parsers: readonly (readonly [string, (levels: string[]) => Topic | null])[] = [
  [MEASUREMENT_ROOT, parseMeasurement],
  [PERSONAL_ROOT, parsePersonal],
];

/**
 * Takes a topic apart. `null` when it has neither shape, such as one with a wildcard, an empty level or an id that is not a UUID, or when it is
 * too long.
 */
export function parseTopic(topic: string): Topic | null {
  if (Buffer.byteLength(topic) > LONGEST_TOPIC) return null;
  for (const [root, parse] of parsers) {
    const levels = levelsBelow(topic, root);
    if (levels) return levels.every(isLevel) ? parse(levels) : null;
  }
  return null;
}

/** Prints how a measurement topic begins: `experiment/data_ingest/v1/{experimentId}/{deviceType}`. The device appends `/{sensorVersion}/{sensorId}`. */
export const printTopicPrefix = (experimentId: string, deviceType: string): string => `${MEASUREMENT_ROOT}/${experimentId}/${deviceType}`;
