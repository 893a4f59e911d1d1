import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bookingFeed, messageFeed } from '../../../src/changes/feeds.ts'
import { wellFormedKey } from '../../support/keys.ts'
import { partnerctl, root } from '../../support/processes.ts'

/*
 * A filter of a feed is added in `src/changes/feeds.ts`. The places below are written by hand, and each test names the
 * filter that one of them lacks. The client takes its filters from the generated types, and the command line must take
 * every filter of the client to be compiled.
 */

const feeds = [
  { feed: bookingFeed, command: ['feed', 'poll'], decision: '09-feed', guide: '09-polling' },
  { feed: messageFeed, command: ['messages', 'poll'], decision: '17-message-feed', guide: '12-messages' },
]

const filtersOf = ({ parameters }: (typeof feeds)[number]['feed']) => Object.keys(parameters)

const examples: Record<string, string> = {
  listing_id: '2001',
  checkout_after: '2026-01-31',
  booking_id: '5002',
  sender: 'guest',
}

/** Returns the option of the command line for a filter: `--listing` for `listing_id`. */
const optionFor = (filter: string) => `--${filter.replace(/_id$/, '').replaceAll('_', '-')}`

const documentOf = (path: string) => readFile(join(root, 'docs', `${path}.md`), 'utf8')

describe.each(feeds)('every filter of the feed of $feed.name', ({ feed, command, decision, guide }) => {
  test.each(filtersOf(feed))('is an option, which excludes --consumer: %s', async (filter) => {
    const option = optionFor(filter)
    const value = examples[filter]
    expect(value, `an example of "${filter}" in this test`).toBeDefined()
    const { code, stderr } = await partnerctl([...command, '--consumer', 'sync', option, value as string], {
      PARTNER_API_KEY: wellFormedKey,
    })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`Options --consumer and ${option} cannot be used together`),
    })
  })

  test('has a row in its decisions', async () => {
    const text = await documentOf(`decisions/${decision}`)
    const missing = filtersOf(feed).filter((filter) => !text.includes(`\n| \`${filter}\` `))
    expect(missing).toEqual([])
  })

  test('is described in the guide', async () => {
    const text = await documentOf(`guide/${guide}`)
    const paragraphs = text.split('\n').filter((line) => /^\| `|are filters/.test(line))
    const missing = filtersOf(feed).filter(
      (filter) => !paragraphs.some((paragraph) => paragraph.includes(`\`${filter}\``)),
    )
    expect(missing).toEqual([])
  })
})

test.each([
  { decision: '19-consumers', begin: '- A consumer follows a whole feed.' },
  { decision: '29-quiet-or-broken', begin: '- Any page without filters is a read' },
])('decisions $decision names every filter of both feeds', async ({ decision, begin }) => {
  const text = await documentOf(`decisions/${decision}`)
  const rule = text.split('\n').find((line) => line.startsWith(begin)) ?? ''
  const missing = feeds
    .flatMap(({ feed }) => filtersOf(feed))
    .filter((filter) => !rule.includes(`\`${filter}\``))
  expect(missing).toEqual([])
})
