import { defineConfig } from 'vitest/config';
import whole from './vitest.config.ts';

/**
 * What to run before each commit: of every room the files that say most in least time. They guard who may do what, the published contract, the SQL
 * that is compiled, how a message and a file are read, and the resources that most changes touch. What waits or runs macros is left to `npm test`, what
 * kills or fills disks to `npm run test:process`.
 */
const FILES = [
  'test/json.test.ts',
  'test/api/{annotations,data,devices,experiments,flow,measurements,metadata,organizations,sharing,uploads,visualizations}.test.ts',
  'test/architecture/{built,generated-client,openapi,walks}.test.ts',
  'test/auth/{config,passkeys,providers}.test.ts',
  'test/authorization/{audit,cases,children,matrix,rules}.test.ts',
  'test/callouts/call.test.ts',
  'test/charts/draw.test.ts',
  'test/contracts/storage.test.ts',
  'test/database/{binary-rows,gathering}.test.ts',
  'test/http/{answers,contract,errors,methods}.test.ts',
  'test/ingest/{append,csv,formats,json-glance,messages,payload,plain-message,refusals}.test.ts',
  'test/iot/{authority,aws-rights,credentials,policy,things,topics}.test.ts',
  'test/lakehouse/{extents,goldens,hostile,operands,page-cache,place,planner,read,shares,student,versions,warehouse}.test.ts',
  'test/sandbox/pure.test.ts',
];

const { globalSetup = [], ...shared } = whole.test ?? {};

export default defineConfig({
  test: {
    ...shared,
    include: FILES,
    // no run of some files sees every operation
    globalSetup: [globalSetup].flat().filter((path) => !path.endsWith('/seen.ts')),
  },
});
