import { expect, test } from 'vitest'
import { readConfig } from '../../src/core/config.ts'

test.each([
  ['::', 'http://[::1]:3000'],
  ['::1', 'http://[::1]:3000'],
  ['[2001:db8::1]', 'http://[2001:db8::1]:3000'],
  ['fe80::1%eth0', 'http://[fe80::1]:3000'],
  ['0.0.0.0', 'http://127.0.0.1:3000'],
  ['127.0.0.1', 'http://127.0.0.1:3000'],
  ['api.example.com', 'http://api.example.com:3000'],
])('with HOST=%s, the published address is %s, which is valid', (HOST, publicUrl) => {
  expect(readConfig({ HOST }).publicUrl).toBe(publicUrl)
  expect(new URL(publicUrl).port).toBe('3000')
})
