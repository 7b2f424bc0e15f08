import { upload } from './words.ts';

const { missing, decimal, dateOrder, headerRow, encoding } = upload.reading;
const chosen = (label: string) => `“${label}” chosen`;

/** What the service calls a field of the interface, and what the form calls it. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/dateOrder dmy( or mdy)?/, chosen(dateOrder)],
  [/decimal , or \./, chosen(decimal)],
  [/decimal , where/, `“,” chosen as “${decimal}” where`],
  [/decimal and with types/, `${chosen(decimal)}, and with the type of the column`],
  [/among the marks in missing\. Sent with types,/, `among the marks in “${missing}”. With a type chosen,`],
  [/(its encoding|the encoding that it is in)(, such as windows-1252)?/, chosen(encoding)],
  [/headerRow (\d+)/, `“${headerRow}” $1`],
  [/, which types names/, ', of which a type is chosen'],
  [/, which leaveOut names/, ', which is to be left out'],
  [/with other reading fields, such as encoding,/, 'and read in another way,'],
  [/as it was read (without reading fields|with .*)\. It was not read again/, 'read in another way. It was not read again'],
];

/** A sentence of the service about a file, in the words of the form. */
export const toFormWords = (text: string): string => FIELDS.reduce((said, [field, words]) => said.replace(field, words), text);
