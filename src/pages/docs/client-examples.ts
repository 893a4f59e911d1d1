import { readFileSync } from 'node:fs'

const readme = readFileSync(new URL('../../../client/README.md', import.meta.url), 'utf8')

/** The sections of the client's README that show an operation. */
const sections: Record<string, string> = {
  getKey: 'Check the key',
  createBooking: 'Book safely',
  pollBookings: 'Follow the feed with a checkpoint of your own',
  putBookingConsumer: 'Follow it as a consumer',
  createWebhook: 'Verify a hint',
}

/** Samples of an operation with the client, as the documentation page shows them beside its own (`x-codeSamples`). */
export function clientSamples(operationId: string): { lang: string; label: string; source: string }[] {
  const section = sections[operationId]
  const [, text = ''] = readme.split(`## ${section}\n`)
  const source = /```js\n([\s\S]*?)```/.exec(text)?.[1]
  return source ? [{ lang: 'js', label: 'partner-interface-client', source }] : []
}
