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
/** What runs beside each other. It waits for kills, elections and restarts more than the tests of `bin/test` do. */
const beside = { ...ofEach, maxWorkers: 4, sequence: { groupOrder: 3 } }

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
          // Three of these files keep 0.6 of a core busy. Five at a time take hardly longer than the longest.
          maxWorkers: 5,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...beside,
          name: 'together',
          include: ['test/soak/**/*.test.ts', ...thorough],
          exclude: [...alone, ...unhurried],
        },
      },
      {
        test: {
          ...beside,
          name: 'served file in Node',
          env: { IS_SOAK: '1', PARTNERCTL_RUNTIME: 'node' },
          include: served,
        },
      },
    ],
  },
})
