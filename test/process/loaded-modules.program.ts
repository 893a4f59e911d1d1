export {}

/** Runs the service, and prints the files of its modules when it gets SIGUSR2. */
process.on('SIGUSR2', () => console.log(JSON.stringify({ modules: Object.keys(require.cache) })))
await import('../../src/main.ts')
