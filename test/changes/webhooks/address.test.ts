import { expect, test } from 'vitest'
import { isPrivateHost, isPublicAddress } from '../../../src/changes/webhooks/address.ts'

test.each([
  ...[
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
  ],
  ...[
    'https://0/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
  ],
  ...[
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://198.18.0.1/',
    'https://192.0.2.1/',
  ],
  ...['https://224.0.0.1/', 'https://255.255.255.255/', 'https://①②⑦.⓪.⓪.①/', 'https://127。0。0。1/'],
  ...[
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[0:0:0:0:0:ffff:10.0.0.1]/',
  ],
  ...[
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::1]/',
    'https://[2002:7f00:1::]/',
    'https://[2002:c0a8:0101::1]/',
  ],
  ...[
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fd12:3456::1]/',
    'https://[ff02::1]/',
    'https://[2001:db8::1]/',
  ],
  ...[
    'https://[2001::1]/',
    'https://[100::1]/',
    'https://[::127.0.0.1]/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://intranet/',
    'https://myhost./hook',
    'https://[::1]/',
  ],
])('%s is private', (address) => {
  expect(isPrivateHost(new URL(address))).toBe(true)
})

test.each([
  ...[
    'https://8.8.8.8/',
    'https://172.32.0.1/',
    'https://100.128.0.1/',
    'https://192.169.0.1/',
    'https://[2606:4700::1111]/',
  ],
  ...[
    'https://[::ffff:8.8.8.8]/',
    'https://[64:ff9b::808:808]/',
    'https://[2002:808:808::1]/',
    'https://example.com/',
    'https://localhost.example.com/',
  ],
])('%s is not', (address) => {
  expect(isPrivateHost(new URL(address))).toBe(false)
})

test('text that is not an address is not public', () => {
  for (const text of ['', 'example.com', '1.2.3', 'fe80::1%eth0', '2606:4700::1%1'])
    expect(isPublicAddress(text)).toBe(false)
})
