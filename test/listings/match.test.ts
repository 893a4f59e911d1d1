import { expect, test } from 'vitest'
import { bestMatch, matchListing } from '../../src/listings/match.ts'

const byId = { method: 'original_id', confidence: { level: 'high', score: 1 } }
const byUrl = { method: 'original_url', confidence: { level: 'high', score: 0.95 } }

test.each([
  ['equal ids', { original_id: 'a' }, { original_id: 'a' }, byId],
  [
    'equal ids, other address',
    { original_id: 'a', original_url: 'u' },
    { original_id: 'a', original_url: 'v' },
    byId,
  ],
  ['other ids', { original_id: 'a' }, { original_id: 'b' }, null],
  [
    'other ids, equal address',
    { original_id: 'a', original_url: 'u' },
    { original_id: 'b', original_url: 'u' },
    null,
  ],
  ['ids apart only by case', { original_id: 'a' }, { original_id: 'A' }, null],
  ['equal address, no ids', { original_url: 'u' }, { original_url: 'u' }, byUrl],
  ['equal address, id sent only', { original_id: 'a', original_url: 'u' }, { original_url: 'u' }, byUrl],
  ['equal address, id stored only', { original_url: 'u' }, { original_id: 'b', original_url: 'u' }, byUrl],
  ['other addresses', { original_url: 'u' }, { original_url: 'v' }, null],
  ['nothing to go by', {}, {}, null],
  [
    'nulls are no match',
    { original_id: null, original_url: null },
    { original_id: null, original_url: null },
    null,
  ],
])('matchListing() with %s', (_, sent, existing, expected) => {
  expect(matchListing(sent, existing)).toEqual(expected)
})

test('bestMatch() takes the id before the address, then the first', () => {
  const existing = [{ original_url: 'u' }, { original_url: 'u' }, { original_id: 'a' }]
  expect(bestMatch({ original_id: 'a', original_url: 'u' }, existing, (it) => it)?.listing).toBe(existing[2])
  expect(bestMatch({ original_url: 'u' }, existing, (it) => it)?.listing).toBe(existing[0])
  expect(bestMatch({ original_id: 'z' }, existing, (it) => it)).toBeNull()
})
