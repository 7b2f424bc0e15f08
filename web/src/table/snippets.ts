/** A question, ready to be said in any language. */
interface Question {
  /** Where the rows are, without a query. */
  address: string;
  parameters: Readonly<Record<string, string | number>>;
}

const text = (value: string | number) => JSON.stringify(String(value));
const shell = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`;

const urlOf = ({ address, parameters }: Question): string =>
  `${address}?${new URLSearchParams(Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)])).toString()}`;

const curl = ({ address, parameters }: Question): string =>
  [
    `curl -sSG ${shell(address)} -H "x-api-key: $KEY" -H 'accept: text/csv'`,
    ...Object.entries(parameters).map(([name, value]) => `--data-urlencode ${shell(`${name}=${value}`)}`),
  ].join(' \\\n  ');

const python = ({ address, parameters }: Question): string =>
  `import io, os
import pandas as pd
import requests

answer = requests.get(
    ${text(address)},
    params={
${Object.entries(parameters)
  .map(([name, value]) => `        ${text(name)}: ${text(value)},`)
  .join('\n')}
    },
    headers={"x-api-key": os.environ["KEY"], "accept": "text/csv"},
)
answer.raise_for_status()
rows = pd.read_csv(io.BytesIO(answer.content))`;

/** Text of R: quotes and backslashes are escaped as in JSON, and a backtick guards every name. */
const r = ({ address, parameters }: Question): string =>
  `library(httr2)

rows <- request(${text(address)}) |>
  req_url_query(
${Object.entries(parameters)
  .map(([name, value]) => `    \`${name}\` = ${text(value)}`)
  .join(',\n')}
  ) |>
  req_headers(\`x-api-key\` = Sys.getenv("KEY"), accept = "text/csv") |>
  req_perform() |>
  resp_body_string() |>
  (\\(csv) read.csv(text = csv))()`;

const javascript = ({ address, parameters }: Question): string =>
  `const query = new URLSearchParams(${JSON.stringify(parameters, null, 2)});
const answer = await fetch(\`${address}?\${query}\`, {
  headers: { 'x-api-key': process.env.KEY, accept: 'application/x-ndjson' },
});
if (!answer.ok) throw new Error((await answer.json()).detail);
const rows = (await answer.text()).trim().split('\\n').map((line) => JSON.parse(line));`;

/** Every way to ask the same, by its name in the catalogue of words. */
export const SNIPPETS = { url: urlOf, curl, python, r, javascript } as const;
export type SnippetName = keyof typeof SNIPPETS;
