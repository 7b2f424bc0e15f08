import { findOrMake, type SampleClient } from './client.ts';

/** A macro that computes the yield of photosynthesis, from the fluorescence before and in a flash of light. */
const MACRO_CODE = `// the fifth to the ninth pulse are in the flash
const leaf = json.set?.[0];
if (!leaf?.data_raw) throw new Error('no leaf was measured: choose measurements of the MultispeQ');
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const flash = mean(leaf.data_raw.slice(4, 9));
const steady = mean([...leaf.data_raw.slice(0, 4), ...leaf.data_raw.slice(9)]);
if (flash <= steady) throw new Error('the flash is no brighter than what was before it');
const Phi2 = (flash - steady) / flash;
if (Phi2 < 0.1) warning('very low: was the clamp closed?', output);
return {
  Phi2: MathROUND(Phi2, 4),
  // half of the light goes to photosystem II, and a leaf takes in 84 %: electrons, µmol m⁻² s⁻¹
  LEF: MathROUND(Phi2 * leaf.light_intensity * 0.42, 1),
  SPAD: leaf.spad[0],
  leaf_temperature: leaf.contactless_temp,
  light: leaf.light_intensity,
};
`;

const PROTOCOL_CODE = [
  {
    label: 'leaf',
    pulses: [4, 5, 3],
    pulse_distance: [1_000, 1_000, 1_000],
    pulsed_lights: [[3], [3], [3]],
    detectors: [[1], [1], [1]],
    // the flash is in the middle, and before and after it the light that is around
    nonpulsed_lights: [[2], [2], [2]],
    nonpulsed_lights_brightness: [['light_intensity'], [4_500], ['light_intensity']],
    environmental: [['light_intensity'], ['contactless_temp'], ['thp']],
  },
];

const INTRODUCTION = `## Before you begin

Walk the twelve plots in order. Of each plot take the **youngest whole leaf**, clamp it in its middle, and keep it as it stands to the light.`;

export interface SampleLibrary {
  macro: { id: string; name: string; filename: string };
  protocolId: string;
}

/** Makes the macro, protocol and workbook of the season where they are not there yet, and has the experiment use them. */
export async function prepareLibrary(
  client: SampleClient,
  { experimentId, organizationId }: { experimentId: string; organizationId: string },
): Promise<SampleLibrary> {
  const macro = await findOrMake<SampleLibrary['macro']>(client, '/api/v1/macros?search=Photosynthesis', {
    name: 'Photosynthesis',
    description: 'Phi2, electron flow, greenness and temperature of one leaf.',
    language: 'javascript',
    code: MACRO_CODE,
    organizationId,
  });
  const protocol = await findOrMake(client, '/api/v1/protocols?search=Leaf', {
    name: 'Leaf in the light',
    description: 'Twelve pulses with a flash in the middle, and what is around the leaf.',
    family: 'multispeq',
    code: PROTOCOL_CODE,
    organizationId,
  });
  await client.post(`/api/v1/protocols/${protocol.id}/macros`, { macroIds: [macro.id] });
  const question = (id: string, text: string, options?: readonly string[]) => ({
    id,
    type: 'question',
    name: id,
    question:
      options === undefined ? { kind: 'open_ended', text, required: true } : { kind: 'multi_choice', text, options, required: true },
  });
  const workbook = await findOrMake(client, '/api/v1/workbooks?search=Daily', {
    name: 'Daily walk',
    description: 'What is done at each plot.',
    organizationId,
    cells: [
      { id: 'introduction', type: 'markdown', content: INTRODUCTION },
      question('plot', 'Which plot?'),
      question('treatment', 'Which treatment?', ['control', 'drought']),
      question('genotype', 'Which genotype?', ['B73', 'Mo17', 'W22']),
      { id: 'measure', type: 'protocol', payload: { protocolId: protocol.id, version: 1, name: 'Leaf in the light' } },
      { id: 'compute', type: 'macro', payload: { macroId: macro.id, language: 'javascript', name: 'Photosynthesis' } },
    ],
  });
  const { workbookId } = await client.get<{ workbookId?: string | null }>(`/api/v1/experiments/${experimentId}`);
  if (workbookId !== workbook.id) await client.post(`/api/v1/experiments/${experimentId}/workbook/attach`, { workbookId: workbook.id });
  return { macro: { id: macro.id, name: macro.name, filename: macro.filename }, protocolId: protocol.id };
}
