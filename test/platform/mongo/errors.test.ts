import mongoose from 'mongoose'
import { expect, test } from 'vitest'
import { isUnreachable } from '../../../src/platform/mongo/errors.ts'

const { MongoServerError, MongoNetworkError } = mongoose.mongo
const labelled = (label: string) => new MongoServerError({ code: 112, errorLabels: [label] })

test.each([
  ['a broken connection', new MongoNetworkError('closed'), true],
  ['the operation was interrupted by a change of primary', new MongoServerError({ code: 11_602 }), true],
  ['the server is no primary', new MongoServerError({ code: 10_107 }), true],
  ['the server shuts down', new MongoServerError({ code: 91 }), true],
  ['a transaction that could not be made in time', labelled('TransientTransactionError'), true],
  ['a duplicate', new MongoServerError({ code: 11_000 }), false],
  ['a failure of our own', new TypeError('undefined'), false],
])('isUnreachable() of %s', (_, error, expected) => {
  expect(isUnreachable(error)).toBe(expected)
})
