import { expect, test } from 'vitest'
import { type Actor, sender, testApp, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const path = '/v1/integrations/provider_one/rates'
const environment = testEnvironment({ MONGODB_URL: await ownDatabase() })
const service = await testApp({ MONGODB_URL: environment.MONGODB_URL as string })

/** Creates a host with a listing of one room type, and functions that read its prices and rate jobs. */
async function partner() {
  const actor: Actor = await service.actor()
  const body = { name: 'L', room_types: [{ name: 'T', prices: { base_price: 1 } }] }
  const listing_id = (await actor.send('POST', '/v1/listings', { body })).body.data.id as number
  const read = async () => (await actor.send('GET', `/v1/listings/${listing_id}`)).body.data.room_types[0]
  const room_type_id = (await read()).id as number
  return {
    actor,
    item: (base_price: number, more: object = {}) => ({ listing_id, room_type_id, base_price, ...more }),
    prices: async () => (await read()).prices,
    job: async (id: number) => (await actor.send('GET', `${path}/jobs/${id}`)).body.data,
  }
}

test('the last of several POSTs of rates over two processes wins', async () => {
  const { actor, item, prices } = await partner()
  const processes = await Promise.all([startService(environment), startService(environment)])
  for (let price = 1; price <= 60; price += 1) {
    const send = sender(fetch, processes[price % 2]?.url)
    const data = [item(price, price % 7 === 0 ? { price_dec: price } : {})]
    expect((await send('POST', path, { key: actor.key, body: { data } })).status).toBe(200)
  }
  expect(await prices()).toMatchObject({ base_price: 60, price_dec: 56 })
  await Promise.all(processes.map((process) => process.stop()))
})

const kills = 3 * soakFactor

test(`rates accepted before ${kills} kills of the service stay applied, in order`, async () => {
  const { actor, item, prices, job } = await partner()
  let last = 0
  const accepted: number[] = []
  for (let kill = 1; kill <= kills; kill += 1) {
    const victim = await startService(environment)
    const send = sender(fetch, victim.url)
    const burst = async () => {
      for (;;) {
        const price = last + 1
        const { status, body } = await send('POST', path, { key: actor.key, body: { data: [item(price)] } })
        if (status !== 200) continue
        last = price
        accepted.push(body.meta.job_id)
      }
    }
    const before = last
    const sending = burst().catch(() => {})
    while (last < before + 5) await Bun.sleep(1)
    await Bun.sleep(Math.random() * 20)
    await victim.end('SIGKILL')
    await sending
  }
  expect(accepted.length).toBeGreaterThanOrEqual(5 * kills)
  for (const id of accepted) expect(await job(id)).toMatchObject({ status: 'applied' })
  // Rates whose response was cut off by the kill may have been accepted.
  expect([last, last + 1]).toContain((await prices()).base_price)
})
