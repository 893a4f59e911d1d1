import { createApp } from '../../../src/app.ts'
import { readConfig } from '../../../src/core/config.ts'
import { compose } from '../../../src/process/wiring.ts'

/**
 * Runs the service unchanged or, with `WITHOUT_REQUEST_LOG`, without its request log. Both are measured in processes of
 * this program, because a process that has already served writes is a few percent slower.
 */
const config = readConfig(process.env)
const context = await compose(config)
const nothing = { record() {}, countFailure() {}, async flush() {} }
const journal = process.env.WITHOUT_REQUEST_LOG ? nothing : context.live.journal
createApp({ ...context, live: { ...context.live, journal } }).listen({
  hostname: config.host,
  port: config.port,
})
