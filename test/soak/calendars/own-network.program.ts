import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { sender } from '../../support/app.ts'
import { calendarOf, dayFromNow, listingWithCalendars } from '../../support/calendars.ts'
import { startService } from '../../support/processes.ts'

/**
 * Runs in a network of its own, in which this machine has the public address {@link outside} and a private one, so that a
 * service that refuses private addresses can read a calendar there. Prints the entries after each redirect as JSON.
 */
const outside = '93.184.216.34'
const inside = '127.0.0.1'

const folder = process.argv[2] as string
const read = (name: string) => Bun.file(join(folder, name)).text()
const pair = { cert: await read('server.pem'), key: await read('server.key') }
const file = calendarOf([[dayFromNow(40), dayFromNow(44)]])

let answer = (response: ServerResponse): void => void response.end(file)
/** Number of requests that the private server got. */
let asked = 0

const listen = (address: string, port: number, handle: (response: ServerResponse) => void) =>
  new Promise<number>((resolve) => {
    const server = createServer(pair, (_, response) => handle(response))
    server.listen(port, address, () => resolve((server.address() as { port: number }).port))
  })
const port = await listen(outside, 0, (response) => answer(response))
await listen(inside, port, (response) => {
  asked += 1
  response.end(calendarOf([]))
})

const service = await startService({
  DATA_DIR: join(folder, 'data'),
  HOST: inside,
  NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
})
try {
  const [key = ''] = service.output().match(/(?<=PARTNER_API_KEY=)\S+/) ?? []
  const send = sender(fetch, service.url)
  const actor = {
    send: (...[method, path, more]: Parameters<typeof send>) => send(method, path, { key, ...more }),
  }
  const { roomIds } = await listingWithCalendars(actor, [`https://${outside}:${port}/file`])
  const path = `/v1/integrations/provider_one/calendars/${roomIds[0]}`
  const readNow = async () => {
    const sending = { body: { accept: true }, repeatWhileBusy: true }
    const { body } = await actor.send('POST', `${path}/read`, sending)
    const { status, error, response_status, nights } = body.data.calendar
    return [status, error, response_status, nights].join(' ')
  }
  const entries: Record<string, string> = { none: await readNow() }
  for (const target of [
    `https://${inside}:${port}/file`,
    `https://localhost:${port}/file`,
    `https://[::1]:${port}/file`,
    'https://169.254.169.254/latest/meta-data',
    `http://${outside}:${port}/file`,
  ]) {
    answer = (response) => void response.writeHead(302, { location: target }).end()
    entries[target.replace(`:${port}`, '')] = await readNow()
  }
  console.log(JSON.stringify({ entries, asked }))
} finally {
  await service.end('SIGTERM')
}
process.exit(0)
