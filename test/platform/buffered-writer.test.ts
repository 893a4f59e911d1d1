import { expect, test } from 'vitest'
import { BufferedWriter } from '../../src/platform/buffered-writer.ts'
import { openLog } from '../../src/platform/log.ts'

/** Opens a writer of words whose writes the test ends. By default, it writes only when it is told to. */
function openWriter(milliseconds = 1_000_000_000) {
  const writes: string[][] = []
  const stored: string[] = []
  let ending: () => Promise<void> = async () => {}
  const writer = new BufferedWriter<string[]>({
    milliseconds,
    newBatch: () => [],
    write: async (batch) => {
      writes.push([...batch])
      await ending()
      stored.push(...batch)
    },
    log: openLog('silent'),
    failureMessage: 'Cannot write the words',
  })
  return {
    writer,
    writes,
    stored,
    add: (word: string) => writer.next().push(word),
    endWith: (end: () => Promise<void>) => {
      ending = end
    },
  }
}

test('what is added together is written together, without anybody asking for it', async () => {
  const { add, stored, writes } = openWriter(10)
  add('one')
  add('two')
  await expect.poll(() => stored).toEqual(['one', 'two'])
  add('three')
  await expect.poll(() => stored).toEqual(['one', 'two', 'three'])
  expect(writes).toEqual([['one', 'two'], ['three']])
})

test('a batch that could not be written is written again unchanged, before what was added since', async () => {
  const { writer, add, stored, writes, endWith } = openWriter()
  endWith(() => Promise.reject(new Error('The database is down')))
  add('one')
  await writer.flush()
  add('two')
  await writer.flush()
  expect({ stored, recent: writer.recent() }).toEqual({ stored: [], recent: [['one'], ['two']] })
  endWith(async () => {})
  await writer.flush()
  expect(writes).toEqual([['one'], ['one'], ['one'], ['two']])
  expect(stored).toEqual(['one', 'two'])
})

test('after a failure, the next attempt follows without anybody asking for it', async () => {
  const { add, stored, writes, endWith } = openWriter(10)
  endWith(() => Promise.reject(new Error('The database is down')))
  add('one')
  await expect.poll(() => writes.length).toBeGreaterThan(2)
  endWith(async () => {})
  await expect.poll(() => stored).toEqual(['one'])
})

test('writes never overlap, and a flush includes what was added while another write was in progress', async () => {
  const { writer, add, stored, writes, endWith } = openWriter()
  const gate = Promise.withResolvers<void>()
  endWith(() => gate.promise)
  add('one')
  const first = writer.flush()
  await expect.poll(() => writes).toEqual([['one']])
  add('two')
  const both = [writer.flush(), writer.flush()]
  expect({ writes, recent: writer.recent() }).toEqual({ writes: [['one']], recent: [['one'], ['two']] })
  gate.resolve()
  await first
  await Promise.all(both)
  expect({ writes, stored }).toEqual({ writes: [['one'], ['two']], stored: ['one', 'two'] })
  expect(writer.recent()).toEqual([['two']])
})

test('a shutdown writes what is waiting, once more if it must', async () => {
  const { writer, add, stored, endWith } = openWriter()
  endWith(() => Promise.reject(new Error('The database is down')))
  add('one')
  await writer.flush()
  add('two')
  endWith(async () => {})
  await writer.close()
  expect(stored).toEqual(['one', 'two'])
})
