// A macro in one bare QuickJS: no box, no harness, one context for all items. The lines are those of `bare.py`.
import { createInterface } from 'node:readline';
import { newQuickJSWASMModule } from 'quickjs-emscripten';

const vm = (await newQuickJSWASMModule()).newContext();
const evaluate = (code: string) => vm.unwrapResult(vm.evalCode(code));
let run = vm.undefined;
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { code, items } = JSON.parse(line) as { code?: string; items: string[] };
  if (code !== undefined) {
    run = evaluate(`(function () {
      const macro = function (json, ctx, output) {\n${code}\n};
      return (items) => {
        let last = '';
        for (const item of JSON.parse(items)) {
          const output = {};
          last = JSON.stringify(Object.assign(output, macro(JSON.parse(item), {}, output)));
        }
        return last;
      };
    })()`);
  }
  const given = vm.newString(JSON.stringify(items));
  const start = performance.now();
  const last = vm.unwrapResult(vm.callFunction(run, vm.undefined, given));
  const ms = performance.now() - start;
  process.stdout.write(`${JSON.stringify({ ms, last: vm.getString(last) })}\n`);
  last.dispose();
  given.dispose();
}
