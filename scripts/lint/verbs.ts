/** A rule of ours: an exported function is a verb and its object, and a truth begins with `is`, `has`, `can`, `are` or `needs`. The words are those of `words.ts`. */
import type { Rule } from 'eslint';
import { TAGS, TRUTHS, VERBS } from './words.ts';

/** What the rule looks at in a node; the parser of TypeScript adds the type to it. */
interface Callable {
  type: string;
  returnType?: { typeAnnotation: { type: string; asserts?: boolean } };
}
interface Declared {
  id: (Rule.Node & { type: 'Identifier'; name: string }) | null;
  init?: Callable | null;
}

const FUNCTIONS: ReadonlySet<string> = new Set(['ArrowFunctionExpression', 'FunctionExpression']);
const firstWord = (name: string) => /^[a-z]+/.exec(name)?.[0] ?? '';

/** True for a function that answers a boolean, or what a type is. A promise may also say what became of an action. */
function isTruth({ returnType }: Callable): boolean {
  const type = returnType?.typeAnnotation;
  return type?.type === 'TSBooleanKeyword' || (type?.type === 'TSTypePredicate' && type.asserts !== true);
}

export const verbs: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      verb: "'{{name}}' does not begin with a verb of scripts/lint/words.ts. Say what it does; add a verb there only if no other means the same.",
      truth: "'{{name}}' answers true or false: begin it with is, has, can, are or needs.",
    },
  },
  create: (context) => {
    const check = (node: NonNullable<Declared['id']>, callable: Callable) => {
      const { name } = node;
      const word = firstWord(name);
      const isQuestion = TRUTHS.has(word);
      const isNamed = isTruth(callable) ? isQuestion : isQuestion || VERBS.has(word) || TAGS.has(name);
      if (!isNamed) context.report({ node, messageId: isTruth(callable) ? 'truth' : 'verb', data: { name } });
    };
    return {
      'ExportNamedDeclaration > FunctionDeclaration': (node: Rule.Node) => {
        const declared = node as unknown as Declared & Callable;
        if (declared.id) check(declared.id, declared);
      },
      'ExportNamedDeclaration > VariableDeclaration > VariableDeclarator': (node: Rule.Node) => {
        const { id, init } = node as unknown as Declared;
        if (id?.type === 'Identifier' && init && FUNCTIONS.has(init.type)) check(id, init);
      },
    };
  },
};
