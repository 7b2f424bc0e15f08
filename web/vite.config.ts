import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const OUT = join(import.meta.dirname, '..', 'build', 'web');

/** Puts a Brotli and a gzip copy beside every text file, so that the service compresses nothing while it answers. */
const compressed = (): Plugin => ({
  name: 'compressed-copies',
  writeBundle: () => {
    for (const name of readdirSync(join(OUT, 'assets'))) {
      if (!/\.(js|css|svg|json)$/.test(name)) continue;
      const path = join(OUT, 'assets', name);
      const bytes = readFileSync(path);
      writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }));
      writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    }
  },
});

const SERVICE = process.env['FIELDLAKE_URL'] ?? 'http://127.0.0.1:3000';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compressed()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    // the largest chunk is Vega's, which comes with the first chart
    chunkSizeWarningLimit: 1_000,
    target: 'es2022',
    // the first that know light-dark(), which is not to be rewritten
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // every asset is a file of its own: the policy of the page allows no data: scripts or styles
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // small parts that six others share are one file: 22 requests instead of 47 before the first table
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'common', minShareCount: 6, maxModuleSize: 30_000 }] } } },
  },
  // `npm run dev:web` beside a running service, which takes writes from pages of its own only
  server: {
    proxy: Object.fromEntries(
      ['/api', '/docs', '/openapi.json', '/health'].map((path) => [
        path,
        { target: SERVICE, changeOrigin: true, headers: { origin: SERVICE } },
      ]),
    ),
  },
});
