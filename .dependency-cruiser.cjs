/**
 * The house as its imports draw it (docs/architecture.md): no circles, types included; imports go one way; and only a
 * feature's own store asks the database about its collections.
 */
const { readdirSync } = require('node:fs')

const shared = ['admin', 'console', 'docs', 'http', 'platform', 'schema', 'server']
const features = readdirSync('src', { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !shared.includes(entry.name))
  .map(({ name }) => name)
  .join('|')

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Move what both need into a file of its own',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'platform-knows-nothing-of-ours',
      comment: 'src/platform holds drivers: it may use errors, the clock and itself',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^(src|cli)/', pathNot: '^src/(platform/|errors\\.ts|clock\\.ts|skew\\.ts)' },
    },
    {
      name: 'schema-knows-no-feature',
      comment: 'src/schema may use errors, the clock and itself',
      severity: 'error',
      from: { path: '^src/schema/' },
      to: { path: '^(src|cli)/', pathNot: '^src/(schema/|errors\\.ts|clock\\.ts)' },
    },
    {
      name: 'http-knows-no-feature',
      comment: 'Features import src/http; what http needs of a feature comes through src/context.ts',
      severity: 'error',
      from: { path: '^src/(http/|context\\.ts)' },
      to: { path: `^src/(${features}|admin|server|docs)/|^src/(app|v1|compose|main)\\.ts` },
    },
    {
      name: 'features-know-no-server',
      comment: 'src/server, src/app.ts and src/compose.ts import features, never the other way',
      severity: 'error',
      from: { path: `^src/(${features}|admin)/` },
      to: { path: '^src/(server|docs)/|^src/(app|v1|compose|main)\\.ts|^cli/' },
    },
    {
      name: 'admin-and-docs-know-no-feature',
      comment: 'src/admin looks at the database, src/docs at the routes; neither needs a feature',
      severity: 'error',
      from: { path: '^src/(admin|docs)/' },
      to: { path: `^src/(${features}|server)/` },
    },
    {
      name: 'the-service-knows-no-command-line',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^cli/' },
    },
    {
      name: 'queries-in-the-own-store',
      comment:
        'Ask a feature through its store: only its own stores, its upgrades and the composition open its models',
      severity: 'error',
      from: {
        path: '^(src|cli)/',
        pathNot: ['(^|[/-])(store|upgrade)\\.ts$', '^src/compose\\.ts$', '^src/platform/'],
      },
      to: { path: '(^|[/-])model\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-model-of-another-feature',
      comment: 'A store opens the models of its own folder only',
      severity: 'error',
      from: { path: '^src/(.+)/[^/]*(store|upgrade)\\.ts$' },
      to: { path: '(^|[/-])model\\.ts$', pathNot: '^src/$1/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-routes-of-another-feature',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(v1|app)\\.ts$' },
      to: { path: '/routes\\.ts$' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(node_modules|fixtures)' },
  },
}
