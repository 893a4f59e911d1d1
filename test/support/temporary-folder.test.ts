import { tmpdir } from 'node:os'
import { expect, inject, test } from 'vitest'

test('a temporary folder of a test, or of a program that it starts, is in the folder that is removed when the run ends', async () => {
  const ofProgram = await Bun.$`mktemp -d`.text()
  expect({ ofTests: tmpdir(), ofProgram: ofProgram.trim().startsWith(`${tmpdir()}/`) }).toEqual({
    ofTests: inject('temporaryFolder'),
    ofProgram: true,
  })
})
