import mongoose from 'mongoose'
import { expect, test } from 'vitest'
import { isUnreachable } from '../../../src/platform/mongo/errors.ts'

const { MongoServerError, MongoNetworkError } = mongoose.mongo
const labelled = (label: string) => new MongoServerError({ code: 112, errorLabels: [label] })

test.each([
  ['a broken connection', new MongoNetworkError('closed'), true],
  ['an operation interrupted by a change of primary', new MongoServerError({ code: 11_602 }), true],
  ['a server that is not primary', new MongoServerError({ code: 10_107 }), true],
  ['a server that is shutting down', new MongoServerError({ code: 91 }), true],
  ['a transaction that timed out', labelled('TransientTransactionError'), true],
  ['a duplicate', new MongoServerError({ code: 11_000 }), false],
  ['a bug in the service', new TypeError('undefined'), false],
])('isUnreachable() decides whether %s means that the database is unreachable', (_, error, expected) => {
  expect(isUnreachable(error)).toBe(expected)
})
