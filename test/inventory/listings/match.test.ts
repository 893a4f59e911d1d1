import { expect, test } from 'vitest'
import { bestMatch, matchListing } from '../../../src/inventory/listings/match-store.ts'

const byId = { method: 'original_id', confidence: { level: 'high', score: 1 } }
const byUrl = { method: 'original_url', confidence: { level: 'high', score: 0.95 } }

test.each([
  ['equal original ids', { original_id: 'a' }, { original_id: 'a' }, byId],
  [
    'equal original ids and different URLs',
    { original_id: 'a', original_url: 'u' },
    { original_id: 'a', original_url: 'v' },
    byId,
  ],
  ['different original ids', { original_id: 'a' }, { original_id: 'b' }, null],
  [
    'different original ids and equal URLs',
    { original_id: 'a', original_url: 'u' },
    { original_id: 'b', original_url: 'u' },
    null,
  ],
  ['original ids that differ only in case', { original_id: 'a' }, { original_id: 'A' }, null],
  ['equal URLs without original ids', { original_url: 'u' }, { original_url: 'u' }, byUrl],
  [
    'equal URLs and an original id only sent',
    { original_id: 'a', original_url: 'u' },
    { original_url: 'u' },
    byUrl,
  ],
  [
    'equal URLs and an original id only stored',
    { original_url: 'u' },
    { original_id: 'b', original_url: 'u' },
    byUrl,
  ],
  [
    'URLs that differ only in the spelling of the host and of the default port',
    { original_url: 'https://bücher.example/a' },
    { original_url: 'HTTPS://XN--BCHER-KVA.example:443/a' },
    byUrl,
  ],
  [
    'URLs with different ports',
    { original_url: 'https://a.example:8443/' },
    { original_url: 'https://a.example/' },
    null,
  ],
  [
    'URLs whose paths differ in case',
    { original_url: 'https://a.example/A' },
    { original_url: 'https://a.example/a' },
    null,
  ],
  ['different URLs', { original_url: 'u' }, { original_url: 'v' }, null],
  ['neither original ids nor URLs', {}, {}, null],
  [
    'null in all fields',
    { original_id: null, original_url: null },
    { original_id: null, original_url: null },
    null,
  ],
])('matchListing() compares %s', (_, sent, existing, expected) => {
  expect(matchListing(sent, existing)).toEqual(expected)
})

test('bestMatch() prefers a match by original id to one by URL, and the first of several', () => {
  const existing = [{ original_url: 'u' }, { original_url: 'u' }, { original_id: 'a' }]
  expect(bestMatch({ original_id: 'a', original_url: 'u' }, existing, (it) => it)?.listing).toBe(existing[2])
  expect(bestMatch({ original_url: 'u' }, existing, (it) => it)?.listing).toBe(existing[0])
  expect(bestMatch({ original_id: 'z' }, existing, (it) => it)).toBeNull()
})
