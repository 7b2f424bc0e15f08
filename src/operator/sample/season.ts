/** A season of MultispeQ and MiniPAR measurements: 12 plots, two treatments, 60 days. The n-th measurement is the same every time, however many are asked for. */

const DAYS = 60;
const PLOTS = 12;
/** Plots side by side in a block; the first block is the northernmost. */
const BLOCK = 4;
const FIRST_DAY = Date.UTC(2026, 4, 1);
const DAY = 86_400_000;
const FIELD = { latitude: 51.9851, longitude: 5.6641 };
const GENOTYPES = ['B73', 'Mo17', 'W22'];
const PROTOCOL = 'b4d6e2a0-5b0e-4f6e-9a55-0d5a3c2f7e11';

/** Numbers in [0, 1) that depend on the seed alone. */
export function makeRandom(seed: number): () => number {
  let state = (seed * 0x9e3779b1) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const round = (value: number, digits: number) => Number(value.toFixed(digits));

/** When, where and on what the n-th measurement was made. */
function occasionOf(n: number, random: () => number) {
  const day = n % DAYS;
  const plot = (Math.floor(n / DAYS) % PLOTS) + 1;
  // measurements need light: they are between 6:00 and 18:00 UTC, and now and then two at exactly the same time
  const minute = 360 + Math.floor(random() * 144) * 5;
  const second = n % 50 === 0 ? 0 : Math.floor(random() * 60);
  const light = Math.max(0, Math.sin(((minute - 360) / 720) * Math.PI));
  const drought = plot % 2 === 0;
  return { day, plot, drought, stress: drought ? day / DAYS : 0, light, at: FIRST_DAY + day * DAY + minute * 60_000 + second * 1_000 };
}
type Occasion = ReturnType<typeof occasionOf>;

/** The firmware of a device on a day: an update on day 20, and on one device a step back on day 30. */
const firmwareOf = (device: number, day: number) => (day < 20 || (device === 2 && day >= 30 && day < 35) ? '2.1' : '2.2');

function leafSample({ light, stress, day }: Occasion, n: number, random: () => number) {
  const par = round(light * 1_800 * (0.7 + 0.3 * random()), 1);
  const phi2 = round(Math.max(0.05, 0.78 - 0.4 * (par / 2_000) - 0.2 * stress + (random() - 0.5) * 0.04), 4);
  const fs = 400 + Math.floor(random() * 80);
  const temperature = round(15 + 10 * light + 2 * stress + 2 * random(), 2);
  const spad = round(44 - 9 * stress + (random() - 0.5) * 3, 1);
  const sample = {
    protocol_id: 1547,
    time: 1_500,
    set: [
      {
        label: 'leaf',
        data_raw: Array.from({ length: 12 }, (_, pulse) => Math.floor(fs * (pulse > 3 && pulse < 9 ? 1 / (1 - phi2) : 1) + random() * 12)),
        light_intensity: par,
        spad: [spad],
        angle: round(random() * 40, 1),
        contactless_temp: round(temperature - 1.5 + random(), 2),
        humidity: round(70 - 25 * light + 5 * random(), 1),
        pressure: round(1_013 + 8 * Math.sin(day / 5), 1),
      },
    ],
    'recall.settings': { par_tweak: 1.03, 'shutdown_time (s)': 420, firmware_note: null },
    // the key changes its type with the firmware
    ambient: day < 20 ? temperature : { temperature, humidity: null },
    ...(n % 97 === 0 ? { 'note "quoted", `odd`.key Ü': 'kept as it is' } : {}),
  };
  const npq = round(Math.max(0, 0.2 + 1.8 * light * (1 + stress) - phi2), 4);
  const output = {
    Phi2: phi2,
    PhiNPQ: npq,
    SPAD: n % 211 === 0 ? 'n/a' : spad,
    leaf_temperature: temperature,
    // a macro's own key of that name never hides the measurement's time
    timestamp: new Date(FIRST_DAY + day * DAY).toISOString().slice(0, 10),
  };
  return { sample, output };
}

/** The n-th measurement, as the instrument's app sends it. */
export function makeMeasurement(n: number, macro?: { id: string; name: string; filename: string }): object {
  const random = makeRandom(n + 1);
  const occasion = occasionOf(n, random);
  const { day, plot, drought, light, at } = occasion;
  const isLight = n % 4 === 3;
  const device = isLight ? (plot <= PLOTS / 2 ? 4 : 5) : 1 + (plot % 3);
  const [block, place] = [Math.floor((plot - 1) / BLOCK), (plot - 1) % BLOCK];
  const questions = [
    { question_label: 'Plot', question_text: 'Which plot?', question_answer: String(plot).padStart(2, '0') },
    { question_label: 'Treatment', question_text: 'Which treatment?', question_answer: drought ? 'drought' : 'control' },
    { question_label: 'Genotype', question_text: 'Which genotype?', question_answer: GENOTYPES[plot % GENOTYPES.length] },
    ...(n % 40 === 0
      ? [{ question_label: 'Note', question_text: 'Anything to note?', question_answer: 'windy, "leaf" moved\nagain' }]
      : []),
  ];
  const common = {
    id: `season-${n}`,
    timestamp: new Date(at).toISOString(),
    ...(n % 60 === 7 ? {} : { timezone: 'Europe/Amsterdam' }),
    ...(n % 25 === 3
      ? {}
      : {
          latitude: round(FIELD.latitude - block * 0.0002 + random() * 0.00005, 6),
          longitude: round(FIELD.longitude + place * 0.0003 + random() * 0.00005, 6),
        }),
    questions,
    workbook_run_id: `season-day-${day}`,
  };
  if (isLight)
    return {
      ...common,
      device_id: `minipar-0${device}`,
      device_name: 'MiniPAR',
      device_version: '1',
      device_firmware: '1.04',
      // volts, or the text that the instrument prints when it does not know
      device_battery: n % 11 === 0 ? 'NaN' : round(3.6 + 0.5 * random(), 2),
      sample: {
        par: round(light * 1_800 * (0.9 + 0.1 * random()), 2),
        channels: Array.from({ length: 10 }, () => Math.floor(random() * 4_096)),
      },
    };
  const { sample, output } = leafSample(occasion, n, random);
  return {
    ...common,
    device_id: `54:4b:0${device}`,
    device_name: `Leaf Lab ${device}`,
    device_version: '2',
    device_firmware: firmwareOf(device, day),
    ...(n % 30 === 5 ? {} : { device_battery: 60 + Math.floor(random() * 40) }),
    ...(macro && {
      protocol_id: PROTOCOL,
      macros: [n % 173 === 0 ? { ...macro, error: 'ZeroDivisionError: division by zero' } : { ...macro, output }],
    }),
    sample,
  };
}

/** Hourly weather of the same days, with gaps and a sensor that prints no number now and then. */
export function printWeather(): string {
  const lines: string[] = [];
  for (let hour = 0; hour < DAYS * 24; hour += 1) {
    const random = makeRandom(900_000 + hour);
    const light = Math.max(0, Math.sin((((hour % 24) - 5) / 14) * Math.PI));
    lines.push(
      JSON.stringify({
        station: '00417',
        measured_at: new Date(FIRST_DAY + hour * 3_600_000).toISOString(),
        air_temperature: hour % 331 === 0 ? 'n/a' : round(8 + hour / 240 + 3 * Math.sin(hour / 90) + 9 * light + 3 * random(), 1),
        rain_mm: random() < 0.9 ? 0 : round(random() * 6, 1),
        radiation: hour % 60 === 0 ? null : Math.round(900 * light * (0.6 + 0.4 * random())),
        'wind direction (°)': Math.floor(random() * 360),
      }),
    );
  }
  return `${lines.join('\n')}\n`;
}
