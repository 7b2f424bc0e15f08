import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

/**
 * Every import of a folder of built modules, dynamic ones too, that names a TypeScript file: each as `path:line: what`.
 * The compiler rewrites `.ts` to `.js`, but not everywhere, and Node cannot load what is left.
 */
export function brokenImports(folder: string): string[] {
  const broken: string[] = [];
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!name.endsWith('.js')) continue;
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    if (!/\.[cm]?tsx?['"`]/.test(text)) continue;
    const module = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext);
    const say = (node: ts.Node, what: string) =>
      broken.push(`${path}:${module.getLineAndCharacterOfPosition(node.getStart(module)).line + 1}: ${what}`);
    const look = (node: ts.Node): void => {
      const named =
        (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined
          ? node.moduleSpecifier
          : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
            ? node.arguments[0]
            : undefined;
      if (named !== undefined && ts.isStringLiteralLike(named) && /\.[cm]?tsx?$/.test(named.text)) say(node, named.text);
      ts.forEachChild(node, look);
    };
    look(module);
  }
  return broken;
}

if (import.meta.main) {
  const broken = brokenImports(resolve(process.argv[2] ?? 'build/src'));
  for (const each of broken) process.stderr.write(`an import of TypeScript was left in the built product: ${each}\n`);
  process.exitCode = broken.length === 0 ? 0 : 1;
}
