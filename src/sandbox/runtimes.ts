import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The files of ours that run inside a box, and the packages that they load. */
export interface Runtimes {
  folder: string;
  /** Packages of the JavaScript engine, as folders. */
  quickjs: readonly string[];
  pyodide: string;
}

const folderOf = (resolve: NodeJS.RequireResolve, name: string, inside: string): string => dirname(resolve(`${name}${inside}`));

/** Finds the packages as the runtime files in `folder` would. Throws when one is not installed. */
export const findRuntimes = (folder: string): Runtimes => {
  const { resolve } = createRequire(pathToFileURL(join(folder, 'javascript.mjs')));
  const core = createRequire(resolve('quickjs-emscripten')).resolve;
  return {
    folder,
    quickjs: [
      dirname(folderOf(resolve, 'quickjs-emscripten', '')),
      dirname(folderOf(core, 'quickjs-emscripten-core', '')),
      // All builds of the engine: the package looks at each of them when it is imported.
      dirname(folderOf(core, '@jitl/quickjs-ffi-types', '/package.json')),
    ],
    pyodide: folderOf(resolve, 'pyodide', '/package.json'),
  };
};
