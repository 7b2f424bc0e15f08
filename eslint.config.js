import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['build/', 'src/generated/', 'node_modules/', '.data/', '*.cjs', 'src/sandbox/runtimes/'] },
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
    files: ['src/lakehouse/scope.ts'],
    rules: { 'no-restricted-syntax': ['error', { selector: 'ExportDefaultDeclaration', message: 'No default exports.' }] },
  },
  {
    files: ['src/config.ts', 'src/json.ts', 'test/**', 'bench/**', 'scripts/**', '*.config.ts', '*.config.js'],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-syntax': 'off' },
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
  // pages have no modules of ours, and read what the service has written
  { files: ['web/**/*.js'], rules: { 'no-restricted-properties': 'off' } },
  { files: ['*.config.js', '*.config.ts', 'web/**/*.js'], extends: [tseslint.configs.disableTypeChecked] },
);
