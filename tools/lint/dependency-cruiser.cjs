/**
 * The house as its imports draw it (docs/architecture.md): neighbourhoods of folders, from the top down. Each imports
 * only those below it; no circles, types included; and only a feature's own store asks the database about its
 * collections.
 */
const neighbourhoods = [
  'process',
  'operations',
  'pages',
  'certification',
  'sandbox',
  'changes',
  'stays',
  'inventory',
  'access',
  'http',
  'activity',
  'host-clock',
  'platform',
  'core',
]

const downwards = neighbourhoods.map((name, floor) => {
  const above = ['[^/]+\\.ts$', ...neighbourhoods.slice(0, floor).map((other) => `${other}/`)]
  return {
    name: `${name}-imports-what-lies-below`,
    comment: 'Pass in what is needed from above, or move what both need down (docs/architecture.md)',
    severity: 'error',
    from: { path: `^src/${name}/` },
    to: { path: `^(cli/|src/(${above.join('|')}))` },
  }
})

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
      name: 'no-circles-of-folders',
      comment: 'Of two features one knows the other, or what both need has a folder of its own',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/[^/]+/[^/]+' },
      to: { circular: true },
    },
    ...downwards,
    {
      name: 'platform-knows-no-word-of-the-domain',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/', pathNot: '^src/(platform|core)/' },
    },
    {
      name: 'queries-in-the-own-store',
      comment: 'Ask a feature through its store: only its own stores and the release open its models',
      severity: 'error',
      from: {
        path: '^(src|cli)/',
        pathNot: [
          '(^|[/-])store\\.ts$',
          '^src/[^/]+/models\\.ts$',
          '^src/operations/release\\.ts$',
          '^src/platform/',
        ],
      },
      to: { path: '(^|[/-])models?\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-model-of-another-feature',
      comment: 'A store opens the models of its own folder only',
      severity: 'error',
      from: { path: '^src/(.+)/[^/]*store\\.ts$' },
      to: { path: '(^|[/-])model\\.ts$', pathNot: '^src/$1/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'partners-have-nothing-of-the-service',
      comment:
        'Partners get these commands without the service (decisions §30); the client has what both sides need',
      severity: 'error',
      from: { path: '^cli/(partner|shared)/' },
      to: { path: '^(src/|cli/admin/|cli/[^/]+\\.ts$)' },
    },
    {
      name: 'shared-by-the-roles',
      comment: 'What only one role needs belongs to that role',
      severity: 'error',
      from: { path: '^cli/(shared|admin)/' },
      to: { path: '^cli/(partner/|[^/]+\\.ts$)' },
    },
    {
      name: 'partners-run-in-node-too',
      comment: 'Use the modules of Node and the web platform (decisions §30)',
      severity: 'error',
      from: { path: '^(cli/(partner|shared)|client/src)/' },
      to: { path: '^bun(:|$)' },
    },
    {
      name: 'client-by-its-index',
      comment: 'Partners can import nothing else, so the command line shows that it suffices',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: '^client/src/', pathNot: '^client/src/index\\.ts$' },
    },
    {
      name: 'packages-for-agents-load-when-needed',
      comment: 'Only a running `partnerctl mcp` loads the packages that serve agents (decisions §27)',
      severity: 'error',
      from: {},
      to: { path: '^cli/partner/mcp/server\\.ts$', dynamic: false },
    },
    {
      name: 'packages-for-traces-load-when-needed',
      comment: 'Only a service with a collector loads the packages of OpenTelemetry (decisions §28)',
      severity: 'error',
      from: {},
      to: { path: '^src/process/traces\\.ts$', dynamic: false },
    },
    {
      name: 'packages-of-traces-in-one-file',
      severity: 'error',
      from: { path: '^(src|cli)/', pathNot: '^src/process/traces\\.ts$' },
      to: { path: 'node_modules/@opentelemetry/' },
    },
    {
      name: 'ambient-transactions-for-administrators',
      comment: 'The service opens a transaction through one of the doors in turns/transactions.ts',
      severity: 'error',
      from: { path: '^(src|cli)/', pathNot: '^cli/admin/' },
      to: { path: '^src/platform/mongo/turns/ambient-transaction\\.ts$' },
    },
    {
      name: 'no-routes-of-another-feature',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/app\\.ts$' },
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
