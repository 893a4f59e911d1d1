import { expect, test } from 'vitest'
import { type ConfigError, readConfig } from '../../src/core/config.ts'
import { testApp } from '../support/app.ts'

const path = '/.well-known/security.txt'

test('security.txt names the contact and expires a year after each request', async () => {
  let now = new Date('2027-03-01T12:00:00.000Z')
  const settings = { SECURITY_CONTACT: 'security@example.com', PUBLIC_URL: 'https://partners.example.com/' }
  const service = await testApp(settings, () => now)
  const read = async () => {
    const response = await service.app.handle(new Request(`http://localhost${path}`))
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      fields: (await response.text()).split('\n'),
    }
  }
  const fields = (expires: string) => [
    'Contact: mailto:security@example.com',
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: https://partners.example.com${path}`,
    '',
  ]
  expect(await read()).toEqual({
    status: 200,
    type: 'text/plain; charset=utf-8',
    fields: fields('2028-02-29T12:00:00.000Z'),
  })
  now = new Date('2027-03-02T12:00:00.000Z')
  expect(await read()).toEqual({
    status: 200,
    type: 'text/plain; charset=utf-8',
    fields: fields('2028-03-01T12:00:00.000Z'),
  })
})

test('there is no security.txt without a contact', async () => {
  const service = await testApp()
  const { status, body } = await service.send('GET', path, { key: null })
  expect({ status, type: body.error.type }).toEqual({ status: 404, type: 'not_found' })
})

test.each([
  ['mailto:security@example.com', 'mailto:security@example.com'],
  ['https://example.com/report', 'https://example.com/report'],
  ['tel:+34-1-201-555-0123', 'tel:+34-1-201-555-0123'],
])('SECURITY_CONTACT=%s is a contact', (contact, uri) => {
  expect(readConfig({ SECURITY_CONTACT: contact }).securityContact).toBe(uri)
})

test.each(['nobody', 'http://example.com/report', 'security@example.com\nExpires: never', 'https://'])(
  'SECURITY_CONTACT=%j is refused',
  (contact) => {
    let problems: string[] = []
    try {
      readConfig({ SECURITY_CONTACT: contact })
    } catch (error) {
      problems = (error as ConfigError).problems
    }
    expect(problems).toEqual([
      'SECURITY_CONTACT must be an e-mail address, or an address that starts with https://, mailto: or tel:',
    ])
  },
)
