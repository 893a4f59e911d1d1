// biome-ignore lint/style/noRestrictedImports: a connection that is never opened
import mongoose from 'mongoose'
import pino from 'pino'
import { createApp } from '../../src/app.ts'
import { systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import { openApiDocument } from '../../src/pages/docs/openapi.ts'
import { Metrics } from '../../src/process/metrics.ts'
import type { SandboxContext } from '../../src/sandbox/sandbox-context.ts'

/** Returns the OpenAPI document that the service serves, generated from its routes without a database or a port. */
export function readDocument() {
  const config = readConfig({ PUBLIC_URL: 'https://partner.example.com' })
  const contextOf = (name: 'live' | 'sandbox') => {
    // The routes use the rest of a context only when they are called.
    const context: Partial<Record<keyof SandboxContext, unknown>> = {
      config,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      db: mongoose.createConnection(),
      environment: { name },
      sandboxes: {},
    }
    return context as SandboxContext
  }
  const app = createApp({
    live: contextOf('live'),
    sandbox: contextOf('sandbox'),
    metrics: new Metrics(() => 0),
  })
  return openApiDocument(app, config)
}
