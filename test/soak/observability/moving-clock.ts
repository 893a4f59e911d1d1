/** The service with a clock that SIGUSR2 puts 90 seconds ahead, and the next SIGUSR2 puts right again. */
export {}

const right = Date.now
let ahead = 0
process.on('SIGUSR2', () => {
  ahead = 90_000 - ahead
})
Date.now = () => right() + ahead

await import('../../../src/main.ts')
