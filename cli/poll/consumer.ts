import { Type } from '@sinclair/typebox'
import type { PartnerClient } from '../client/client.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Feed, Item } from './feeds.ts'

const ConsumerItem = Type.Object({ acknowledged: Type.Union([Type.String(), Type.Null()]) })

/**
 * Opens a checkpoint that the service keeps: the consumer with this name, which is created if it does not exist.
 * Handled changes are acknowledged after each page, so a killed poll repeats at most one page.
 */
export async function openConsumer<T extends Item>(
  client: PartnerClient,
  feed: Feed<T>,
  name: string,
): Promise<Checkpoint> {
  const path = `${feed.path}/consumers/${encodeURIComponent(name)}`
  const acknowledge = async (acknowledged: string | null): Promise<string | null> => {
    const body = JSON.stringify({ acknowledged })
    const { data } = await client.send<{ acknowledged: string | null }>('PUT', path, {
      body,
      expects: ConsumerItem,
    })
    return data.acknowledged
  }
  // Acknowledging `null` leaves the position of an existing consumer unchanged.
  const stored = await acknowledge(null)
  let [handled, kept] = [stored, stored]
  const sync = async () => {
    if (handled === kept) return
    await acknowledge(handled)
    kept = handled
  }
  return {
    version: stored ?? undefined,
    save(version) {
      handled = version
    },
    sync,
    close: sync,
  }
}
