/**
 * A whole product in one file. It keeps the bookings of a host, receives hints, sends availability, books and cancels,
 * and lets itself be certified.
 *
 *   echo "@partner-interface:registry=$PARTNER_BASE_URL/npm/" >> .npmrc
 *   npm install @partner-interface/client
 *   node product.mjs                                             runs the product until it is killed
 *   node product.mjs certify feed inventory bookings webhooks    certifies it in these profiles
 *
 * Settings: PARTNER_BASE_URL and PARTNER_API_KEY; to receive hints, also HOOK_URL (the public address that leads to
 * this program) and PORT (where it listens, 4000 if absent).
 */
import { spawn } from 'node:child_process'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, verifyWebhook } from '@partner-interface/client'

const { PARTNER_BASE_URL: baseUrl, PARTNER_API_KEY: key, HOOK_URL, PORT = '4000' } = process.env
/** Leave out `sandbox` for live data. Certifications are only in the sandbox. */
const client = createClient({ key, baseUrl, sandbox: true })

/** Reads a file of JSON, or returns `empty` if there is none yet. */
async function load(file, empty) {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  return text === null ? empty : JSON.parse(text)
}

/** Replaces a file in one step, so that a crash leaves either the old content or the new one. */
async function save(file, content) {
  await writeFile(`${file}.new`, JSON.stringify(content))
  await rename(`${file}.new`, file)
}

const storeFile = 'bookings.json'
const emptyStore = { after: null, bookings: {} }

/** Follows the feed for good. The place in the feed is stored together with the bookings, never before them. */
async function followFeed() {
  const store = await load(storeFile, emptyStore)
  for await (const { items, checkpoint } of client.bookings.feed({ after: store.after, wait: 30 }).pages()) {
    for (const { booking_id, status, checkin_at, checkout_at } of items)
      store.bookings[booking_id] = { booking_id, status, checkin_at, checkout_at }
    store.after = checkpoint
    await save(storeFile, store)
  }
}

/** Returns the secret of this product's webhook, which is created on the first start. */
async function registerWebhook() {
  const stored = await load('webhook.json', {})
  const known = (await client.webhooks.list()).find(({ url }) => url === HOOK_URL)
  if (known && !known.enabled) await client.webhooks.update(known.id, { enabled: true })
  if (known && known.id === stored.id) return stored.secret
  // A secret is shown only once. If the product crashed before storing it, the secret is rotated.
  const { id, secret } = known
    ? await client.webhooks.rotateSecret(known.id)
    : await client.webhooks.create({ url: HOOK_URL, events: ['booking.changed'] })
  await save('webhook.json', { id, secret })
  return secret
}

/** Reads a body that anybody may have sent: it may be too large or incomplete. A hint has less than 1 kB. */
async function bodyOf(request) {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk
    if (body.length > 65_536) throw new Error('This is not a hint')
  }
  return body
}

/** Receives hints. The first hint may come before the secret is stored, so every hint waits for it. */
async function receiveHints() {
  let secret
  const server = createServer(async (request, response) => {
    try {
      await verifyWebhook(await bodyOf(request), request.headers, await secret)
    } catch {
      return response.writeHead(401).end()
    }
    // `followFeed` is already waiting for the change. A product that polls every few minutes would read the feed now.
    response.writeHead(204).end()
  })
  server.listen(Number(PORT))
  secret = registerWebhook()
  await secret
}

/** Carries out each `action` of `next` that a person would do by hand. Replace the units and the keys with your own. */
const work = {
  push_all: ({ room_types, start_date, end_date }) =>
    client.availability.update(room_types.map((room) => ({ ...room, available: 2, start_date, end_date }))),
  push_change: ({ listing_id, room_type_id, start_date, end_date, available, as_of }) =>
    client.availability.update([{ listing_id, room_type_id, start_date, end_date, available, as_of }]),
  book: ({ user_id, listing_id, room_type_id, checkin_at, checkout_at }) =>
    client.bookings.create(
      { user_id, listing_id, room_type_id, checkin_at, checkout_at },
      // Stands in for your own order id, so that the same order always has the same key.
      { idempotencyKey: [user_id, room_type_id, checkin_at, checkout_at].join('/') },
    ),
  cancel: ({ booking_id }) => client.bookings.cancel(booking_id),
}

/** Certifies the product: starts and kills it, and does whatever else `next` says, until the course is over. */
async function certify(profiles) {
  const { certifications } = client.sandbox
  for (const { id, status } of await certifications.list())
    if (status === 'running') await certifications.end(id)
  await rm(storeFile, { force: true })
  let now = await certifications.start({ profiles })
  let product
  let done
  let shown
  while (now.status === 'running') {
    const { next, progress } = now
    const line =
      next && `${next.action}: ${next.text} (bookings not read yet: ${progress?.missing_count ?? 0})`
    if (line && line !== shown) console.log(line)
    shown = line
    // Each action is done once. A refused request is not repeated unchanged.
    if (next && JSON.stringify(next) !== done) {
      done = JSON.stringify(next)
      const isOff = !product || product.exitCode !== null || product.signalCode !== null
      if (next.action === 'start' && isOff)
        product = spawn(process.execPath, [process.argv[1]], { stdio: 'inherit' })
      if (next.action === 'stop') product?.kill('SIGKILL')
      if (next.action === 'upload_state') {
        const { bookings } = await load(storeFile, emptyStore)
        await certifications.state(now.id, Object.values(bookings))
      }
      await work[next.action]?.(next).catch((error) => console.log(`Refused: ${error.message}`))
    }
    await sleep(2000)
    now = await certifications.get(now.id)
  }
  product?.kill()
  for (const { name, status, because } of now.cases) console.log(status, name, because ?? '')
  if (now.status === 'passed') await writeFile('report.jws', await certifications.report(now.id))
  else process.exitCode = 1
}

const [command, ...profiles] = process.argv.slice(2)
if (command === 'certify') await certify(profiles)
else
  await Promise.all([followFeed(), HOOK_URL && receiveHints()]).catch((error) => {
    // For example, the key has expired. Somebody must look into it, and then start the product again.
    console.error(`The product has ended: ${error.message}`)
    process.exit(1)
  })
