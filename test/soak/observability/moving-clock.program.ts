/** Runs the service with a clock that SIGUSR2 moves 90 seconds ahead and the next SIGUSR2 resets. */
export {}

const right = Date.now
let ahead = 0
process.on('SIGUSR2', () => {
  ahead = 90_000 - ahead
})
Date.now = () => right() + ahead

await import('../../../src/main.ts')
