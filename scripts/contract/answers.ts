// Prints src/generated/answers.json: for each operation the refusals of the catalogue, the headers that its code sets and those of the request that it
// reads, found by following every name from its controller's method. What is thrown and caught again is named too: a refusal that is declared need not occur, one that occurs is declared.
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { printCode } from '../../src/errors.ts';
import { ASKED } from './asked.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Where nothing is followed: what these throw is declared for all operations (`responses.ts`), or ends a start. */
const EDGES = ['src/database/', 'src/config.ts', 'src/errors.ts', 'src/generated/', 'src/jobs/'];

const settings = ts.getParsedCommandLineOfConfigFile(
  join(ROOT, 'tsconfig.build.json'),
  { noEmit: true },
  {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
      throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
    },
  },
)!;
const program = ts.createProgram(settings.fileNames, settings.options);
const checker = program.getTypeChecker();
const pathOf = (node: ts.Node) => relative(ROOT, node.getSourceFile().fileName);
const isOurs = (node: ts.Node) => pathOf(node).startsWith('src/') && !EDGES.some((edge) => pathOf(node).startsWith(edge));

/** What stands behind each member of an interface: of classes that implement it, and of objects that are given where it is asked for. */
const implementations = new Map<ts.Node, ts.Node[]>();

/** Whether a member can be called; what is only read leads to nothing. */
const isCallable = (member: ts.Node) => checker.getNonNullableType(checker.getTypeAtLocation(member)).getCallSignatures().length > 0;

function note(member: ts.Symbol | undefined, implementation: ts.Node): void {
  for (const declaration of member?.declarations ?? [])
    if (declaration !== implementation) implementations.set(declaration, [...(implementations.get(declaration) ?? []), implementation]);
}

function noteImplementations(node: ts.Node): void {
  if (ts.isClassDeclaration(node))
    for (const clause of node.heritageClauses ?? [])
      for (const parent of clause.types) {
        const type = checker.getTypeAtLocation(parent);
        for (const member of node.members)
          if (member.name && ts.isIdentifier(member.name)) note(type.getProperty(member.name.text), member);
      }
  if (ts.isObjectLiteralExpression(node)) {
    const asked = checker.getContextualType(node);
    // an async function may give the object itself, or a promise of it
    for (const type of asked?.isUnion() === true ? asked.types : asked ? [asked] : [])
      for (const member of node.properties)
        if (member.name && ts.isIdentifier(member.name) && isCallable(member)) note(type.getProperty(member.name.text), member);
  }
  ts.forEachChild(node, noteImplementations);
}

for (const file of program.getSourceFiles()) if (!file.isDeclarationFile && isOurs(file)) noteImplementations(file);

interface Reached {
  /** Entries of the catalogue. */
  keys: string[];
  /** Headers that are set. */
  headers: string[];
  /** Headers of the request that are read. */
  asked: string[];
  next: ts.Node[];
}
const looked = new Map<ts.Node, Reached>();

/** The catalogue entries that a declaration names itself, and the declarations that it leads to. */
function look(root: ts.Node): Reached {
  const known = looked.get(root);
  if (known) return known;
  const reached: Reached = { keys: [], headers: [], asked: [], next: [...(implementations.get(root) ?? [])] };
  looked.set(root, reached);
  const visit = (node: ts.Node): void => {
    // types lead nowhere
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'errors') {
      reached.keys.push(node.name.text);
      return;
    }
    if (keepsSecret(node)) reached.keys.push('alreadyDone');
    const header = headerOf(node);
    if (header !== undefined) reached.headers.push(header);
    const asked = askedOf(node);
    if (asked !== undefined) reached.asked.push(asked);
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      let symbol = checker.getSymbolAtLocation(node);
      if (symbol && ts.isShorthandPropertyAssignment(node.parent)) symbol = checker.getShorthandAssignmentValueSymbol(node.parent);
      if (symbol && (symbol.flags & ts.SymbolFlags.Alias) !== 0) symbol = checker.getAliasedSymbol(symbol);
      for (const declaration of symbol?.declarations ?? []) if (isOurs(declaration) && leadsOn(declaration)) reached.next.push(declaration);
    }
    ts.forEachChild(node, visit);
  };
  visit(root);
  return reached;
}

/** Whether a call keeps an answer, for whoever repeats the request with the same key (`src/http/answers/idempotency.ts`). */
const keepsAnswer = (node: ts.Node): node is ts.CallExpression =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'created';

/** Whether a call keeps an answer with a secret, which no repetition gets again. */
const keepsSecret = (node: ts.Node) => keepsAnswer(node) && node.arguments.length === 3;

/** The header of the request that a piece of code reads. */
function askedOf(node: ts.Node): string | undefined {
  if (keepsAnswer(node)) return 'Idempotency-Key';
  const isGet = ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'get';
  const name = isGet ? node.arguments[0] : ts.isElementAccessExpression(node) ? node.argumentExpression : undefined;
  return name && ts.isStringLiteral(name) ? Object.keys(ASKED).find((header) => header.toLowerCase() === name.text) : undefined;
}

/** The header that a call sets. */
function headerOf(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  if (node.expression.name.text === 'attachment') return 'Content-Disposition';
  const [name] = node.arguments;
  return node.expression.name.text === 'setHeader' && name && ts.isStringLiteral(name) ? name.text : undefined;
}

const leadsOn = (node: ts.Node) =>
  ts.isFunctionDeclaration(node) ||
  ts.isVariableDeclaration(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isGetAccessor(node) ||
  ts.isMethodSignature(node) ||
  ((ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node) || ts.isPropertySignature(node)) && isCallable(node));

/** Everything that is reached from a declaration. */
function reachedFrom(root: ts.Node): { refusals: string[]; headers: string[]; asked: string[] } {
  const seen = new Set([root]);
  const keys = new Set<string>();
  const headers = new Set<string>();
  const asked = new Set<string>();
  for (const node of seen) {
    const { next, ...own } = look(node);
    for (const key of own.keys) keys.add(key);
    for (const header of own.headers) headers.add(header);
    for (const header of own.asked) asked.add(header);
    for (const one of next) seen.add(one);
  }
  return { refusals: [...keys].map((key) => printCode(key)).sort(), headers: [...headers].sort(), asked: [...asked].sort() };
}

const methods = program
  .getSourceFiles()
  .filter(({ fileName }) => fileName.endsWith('.controller.ts'))
  .flatMap(({ statements }) => statements)
  .filter((statement) => ts.isClassDeclaration(statement))
  .flatMap(({ members }) => [...members])
  .filter((member) => ts.isMethodDeclaration(member) && (ts.getDecorators(member)?.length ?? 0) > 0);
const answers = methods.map((method) => [method.name!.getText(), reachedFrom(method)] as const).sort(([a], [b]) => (a < b ? -1 : 1));
const lines = answers.map(([name, answer]) => `  ${JSON.stringify(name)}: ${JSON.stringify(answer)}`);
writeFileSync(join(ROOT, 'src/generated/answers.json'), `{\n${lines.join(',\n')}\n}\n`);
