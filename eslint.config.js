import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { verbs } from './scripts/lint/verbs.ts';

export default tseslint.config(
  { ignores: ['build/', 'src/generated/', 'clients/typescript/generated/', 'node_modules/', '.data/', '*.cjs', 'src/sandbox/runtimes/'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js', 'scripts/ready.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      'max-lines': ['error', { max: 350, skipBlankLines: false, skipComments: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/use-unknown-in-catch-callback-variable': 'off',
      'max-params': ['error', 5],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Configuration is read in src/config.ts only.' },
        { object: 'JSON', property: 'parse', message: 'It misreads keys that hold an escape: use readJson of src/json.ts.' },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'No default exports.' },
        {
          selector: ':matches(TSAsExpression, TSTypeAssertion, TSSatisfiesExpression) TSTypeReference[typeName.name="ExperimentScope"]',
          message: 'A scope is made by src/authorization with the decision that it proves; nothing is cast to one.',
        },
      ],
    },
  },
  {
    files: ['src/lakehouse/terms/scope.ts'],
    rules: { 'no-restricted-syntax': ['error', { selector: 'ExportDefaultDeclaration', message: 'No default exports.' }] },
  },
  {
    files: [
      'src/config.ts',
      'src/json.ts',
      'web/src/code/json.ts',
      'clients/**',
      'test/**',
      'bench/**',
      'scripts/**',
      '*.config.ts',
      '*.config.js',
      'web/*.config.ts',
    ],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-syntax': 'off' },
  },
  {
    files: ['web/src/**/*.tsx'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'No default exports.' },
        {
          selector:
            'JSXOpeningElement[name.name="button"] > JSXAttribute[name.name="disabled"] Identifier[name=/^is(Pending|Busy|Sending|Saving)$/]',
          message: 'What is disabled loses the focus: what sends is a SendButton of web/src/ui.',
        },
      ],
    },
  },
  // one catalogue of words, however many there are
  { files: ['web/src/words.ts'], rules: { 'max-lines': 'off' } },
  {
    // names of a controller's methods are those of the contract
    files: ['src/**/*.ts'],
    ignores: ['src/**/*.controller.ts'],
    plugins: { house: { rules: { verbs } } },
    rules: { 'house/verbs': 'error' },
  },
  {
    files: ['test/**', 'bench/**', 'scripts/**'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      'max-lines': 'off',
    },
  },
  // the catalogue has a line for each failure that a caller can see
  { files: ['src/errors.ts'], rules: { 'max-lines': 'off' } },
  {
    files: ['web/src/**'],
    extends: [reactHooks.configs.flat['recommended-latest']],
    rules: {
      // for the React compiler, which is not used
      'react-hooks/incompatible-library': 'off',
      '@typescript-eslint/only-throw-error': [
        'error',
        { allow: [{ from: 'package', package: '@tanstack/router-core', name: 'Redirect' }] },
      ],
    },
  },
  { files: ['*.config.js', '*.config.ts', 'web/*.config.ts'], extends: [tseslint.configs.disableTypeChecked] },
);
