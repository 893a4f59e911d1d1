import { createApp } from '../../../src/app.ts'
import { readConfig } from '../../../src/core/config.ts'
import { compose } from '../../../src/process/wiring.ts'
import { fast } from './times.ts'

/** Runs a service that certifies with a tenth of the usual times; `BOUNDS` can set other times as JSON. */
const config = readConfig(process.env)
const context = await compose(config, {
  certifying: { ...fast, ...JSON.parse(process.env.BOUNDS ?? '{}') },
})
createApp(context).listen({ hostname: config.host, port: config.port })
