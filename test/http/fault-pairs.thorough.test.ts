import { expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { faultTable, maxBodyBytes } from '../support/fault-pairs.ts'

const service = await testApp({ MAX_BODY_BYTES: String(maxBodyBytes) })

/**
 * The first table came from the last release in which Elysia's hooks checked requests. A route that is added adds its name
 * or a block; no other line may change, because partners rely on which fault they are told first (decisions §1).
 */
test('of two faults in one request, every route names the one that test/http/fault-pairs.txt lists', async () => {
  await expect(await faultTable(service)).toMatchFileSnapshot('fault-pairs.txt')
})
