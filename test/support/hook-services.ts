import { testApp } from './app.ts'
import { ownDatabase } from './databases.ts'

/** Returns the settings of a service that sends hints to receivers on this machine, with a database of its own. */
export const hookSettings = async () => ({
  MONGODB_URL: await ownDatabase(),
  WEBHOOKS_ALLOW_PRIVATE: 'on',
})

/** Starts such a service, whose clock can be moved. */
export async function withClock() {
  let offset = 0
  const service = await testApp(await hookSettings(), () => new Date(Date.now() + offset))
  return {
    service,
    move(milliseconds: number) {
      offset += milliseconds
    },
  }
}
