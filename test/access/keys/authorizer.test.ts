import { expect, test } from 'vitest'
import { KeyAuthorizer } from '../../../src/access/keys/authorizer.ts'
import { testApp } from '../../support/app.ts'

const { live, actor } = await testApp()

test('one key more than a process remembers makes it forget one key, not all of them', async () => {
  const remembered = 10
  const authorizer = new KeyAuthorizer({ ...live, keyChanges: { revision: () => null } }, 1000, remembered)
  const actors = await Promise.all(Array.from({ length: remembered + 1 }, () => actor()))
  const lookedUp: number[] = []
  const use = async (users: typeof actors) => {
    for (const { key, keyId } of users)
      await authorizer.authorize(key, new Date(), async () => {
        lookedUp.push(keyId)
        return true
      })
  }
  const [oldest, ...others] = actors
  await use(actors)
  expect(lookedUp).toEqual(actors.map(({ keyId }) => keyId))
  lookedUp.length = 0
  await use(others)
  expect(lookedUp).toEqual([])
  await use(oldest ? [oldest] : [])
  expect(lookedUp).toEqual([oldest?.keyId])
})
