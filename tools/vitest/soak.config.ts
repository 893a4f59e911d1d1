import { defineConfig } from 'vitest/config'
import { soakFactor } from '../../test/support/soak.ts'
import { shared } from './shared.ts'

/*
 * A file's name says how it runs; CONTRIBUTING, "What a file's name says", explains the words.
 */
const alone = ['test/soak/**/*.alone.test.ts']
const unhurried = ['test/soak/**/*.unhurried.test.ts']
const thorough = ['test/**/*.thorough.test.ts']
const served = ['test/cli/**/*.served.test.ts']

const { globalSetup, reporters, ...common } = shared
const ofEach = { ...common, env: { IS_SOAK: '1' }, testTimeout: 10 * 60_000 * soakFactor }

/** Configuration of `bin/soak`, which runs the tests that need load, kills, failovers or long histories. */
export default defineConfig({
  test: {
    globalSetup,
    reporters,
    projects: [
      { test: { ...ofEach, name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } } },
      {
        test: {
          ...ofEach,
          name: 'unhurried',
          include: unhurried,
          // Six of these files together keep one core busy. The longest takes as long as the others, three at a time.
          maxWorkers: 6,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...ofEach,
          name: 'together',
          include: ['test/soak/**/*.test.ts', ...thorough],
          exclude: [...alone, ...unhurried],
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...ofEach,
          // In one group with the project before, so that no core waits for the last file of either.
          name: 'served file in Node',
          env: { IS_SOAK: '1', PARTNERCTL_RUNTIME: 'node' },
          include: served,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
