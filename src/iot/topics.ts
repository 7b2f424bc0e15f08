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
const UUID_TEXT = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
export const UUID = new RegExp(`^${UUID_TEXT}$`);

/** A topic level that is one literal: not empty, no separator, no wildcard, no control character. */
const LEVEL = String.raw`[^/+#\p{Cc}]+`;
const level = new RegExp(`^${LEVEL}$`, 'u');
export const isLevel = (text: string): boolean => level.test(text) && text.isWellFormed();

/** Everything a device may publish under, up to the experiment. */
const MEASUREMENT_ROOT = 'experiment/data_ingest/v1';
/** Everything people with temporary credentials may publish under, up to the person. */
export const PERSONAL_ROOT = 'data_ingest/v1/u';
/** Everything sent to devices: `device/scripts/v1/{sensorType}/{sensorVersion}/{thingName}`. */
export const SCRIPT_ROOT = 'device/scripts/v1';

/** What every topic ends in, but for the id of a protocol: ids and levels that are literals. */
const SENSOR = `(?<experimentId>${UUID_TEXT})/(?<sensorType>${LEVEL})/(?<sensorVersion>${LEVEL})/(?<sensorId>${LEVEL})`;
const MEASUREMENT = new RegExp(`^${MEASUREMENT_ROOT}/${SENSOR}(?:/(?<protocolId>${LEVEL}))?$`, 'u');
const PERSONAL = new RegExp(`^${PERSONAL_ROOT}/(?<userId>${UUID_TEXT})/${SENSOR}$`, 'u');

/**
 * Takes a topic apart. `null` when it has neither shape, such as one with a wildcard, an empty level or an id that is not a UUID, or when it is
 * too long.
 */
export function parseTopic(topic: string): Topic | null {
  if (Buffer.byteLength(topic) > LONGEST_TOPIC || !topic.isWellFormed()) return null;
  const measurement = MEASUREMENT.exec(topic)?.groups as (Sensor & { protocolId?: string }) | undefined;
  if (measurement) return { kind: 'measurement', ...measurement, protocolId: measurement.protocolId ?? null };
  const personal = PERSONAL.exec(topic)?.groups as (Sensor & { userId: string }) | undefined;
  return personal ? { kind: 'personal', ...personal } : null;
}

/** Prints how a measurement topic begins: `experiment/data_ingest/v1/{experimentId}/{deviceType}`. The device appends `/{sensorVersion}/{sensorId}`. */
export const printTopicPrefix = (experimentId: string, deviceType: string): string => `${MEASUREMENT_ROOT}/${experimentId}/${deviceType}`;
