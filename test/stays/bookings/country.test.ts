import countries from 'i18n-iso-countries'
import { expect, test } from 'vitest'
import { toCountryCode } from '../../../src/stays/bookings/country.ts'
import { seedBooking, testApp } from '../../support/app.ts'

const service = await testApp()

test.each([
  ['es', 'ES'],
  ['DEU', 'DE'],
  ['deu', null],
  ['Deu', null],
  ['NGA', 'NG'],
  ['Nga', null],
  ['Spain', 'ES'],
  ['Deutschland', 'DE'],
  ['日本', 'JP'],
  ['EL', 'GR'],
  ['el', 'GR'],
  ['England', 'GB'],
  ['SCOTLAND', 'GB'],
  ['wales', 'GB'],
  [' Northern Ireland ', 'GB'],
  ['Ireland', 'IE'],
  ['Espan\u0303a', 'ES'],
  ['TÜRKİYE', 'TR'],
  ['República Democrática do Congo', 'CD'],
  ['República do Congo', 'CG'],
  ['República Popular do Congo', null],
  ['Eýran', 'IR'],
  ['फ्रैंच गुआना', null],
  ['UK', 'GB'],
  ['USA', 'US'],
  ['U.S.A.', 'US'],
  ["Côte d'Ivoire", 'CI'],
  ['COTE D’IVOIRE', 'CI'],
  ['Trinidad & Tobago', 'TT'],
  ['Trinidad and Tobago', 'TT'],
  ['GROSSBRITANNIEN', 'GB'],
  ['Großbritannien', 'GB'],
  ['Åland', 'AX'],
  ['Reunion', 'RE'],
  ['Korea, Republic of', 'KR'],
  ['Republic of Korea', 'KR'],
  ['Saint Martin (French part)', 'MF'],
  ['Κύπρος', 'CY'],
  ['ΚΥΠΡΟΣ', 'CY'],
  ['Россия', 'RU'],
  ['РОССИЯ', 'RU'],
  ['臺灣', null],
  ['台灣', 'TW'],
  ['Kosovo', 'XK'],
  ['XK', 'XK'],
  ['Faroe Islands', 'FO'],
  ['Niger', 'NE'],
  ['Dominica', 'DM'],
  ['Dominican Republic', 'DO'],
  ['Atlantis', null],
  ['ad\tAD', null],
  ['#', null],
  ['…', null],
  ['', null],
  [null, null],
])('toCountryCode(%j) returns %j', (country, code) => {
  expect(toCountryCode(country)).toBe(code)
})

test.each([
  ['Kongo', undefined, null],
  ['Kongo', null, null],
  ['Kongo', 'no', 'CD'],
  ['Kongo', 'de', 'CD'],
  ['Kongo', 'de-AT', 'CD'],
  ['kongo', 'pl', 'CG'],
  ['KONGO', 'pl-PL', 'CG'],
  ['Kongo', 'ja', null],
  ['Nga', 'vi', 'RU'],
  ['Nga', 'en', null],
  ['Congo', 'es-MX', 'CG'],
  ['Congo', 'en', null],
  ['Spain', 'ja', 'ES'],
])('toCountryCode(%j), of a guest whose language is %j, returns %j', (country, language, code) => {
  expect(toCountryCode(country, language)).toBe(code)
})

/** Every name of a country in the languages of the package, and the language and country that it belongs to. */
function namesOfTheRuntime() {
  const languages = Intl.DisplayNames.supportedLocalesOf(countries.getSupportedLanguages())
  return languages.flatMap((language) =>
    (['long', 'short', 'narrow'] as const).flatMap((style) => {
      const names = new Intl.DisplayNames([language], { type: 'region', style, fallback: 'none' })
      return Object.keys(countries.getAlpha2Codes()).flatMap((code) => {
        const name = names.of(code)
        return name === undefined ? [] : [{ language, code, name }]
      })
    }),
  )
}

/** Returns true for an abbreviation that is also a code, such as `RU`, the United Kingdom in Spanish: a code comes first. */
const isCode = (name: string) => name === name.toUpperCase() && countries.isValid(name)

test('of every name in every language of the package, none is a wrong country, and each that is null may mean two countries', () => {
  const names = namesOfTheRuntime()
  expect(names.length).toBeGreaterThan(50_000)
  const shown = names.map((name) => ({ ...name, shown: toCountryCode(name.name) }))
  const wrong = shown.filter(({ shown, code, name }) => shown !== null && shown !== code && !isCode(name))
  expect(wrong).toEqual([])
  const nulls = shown.filter(({ shown }) => shown === null)
  expect(nulls.length / names.length).toBeLessThan(0.03)
  // The reason for each null is that the name is decided by the language that it is written in.
  const unexplained = nulls.filter(({ name, language, code }) => toCountryCode(name, language) !== code)
  expect(unexplained).toEqual([])
  expect([...new Set(nulls.map(({ name }) => name.toLowerCase()))].sort()).toEqual([
    'congo',
    'kongo',
    'nga',
    'nigeri',
    'sabiya',
    'tóga',
    'конго',
    'свети мартин',
    'لتونی',
  ])
})

test("an abbreviation in some language that is another country's code is read as the code", () => {
  const codes = namesOfTheRuntime().filter(
    ({ name, code }) => isCode(name) && countries.toAlpha2(name) !== code && name !== code,
  )
  expect([...new Set(codes.map(({ name, code }) => `${name} for ${code}`))].sort()).toEqual([
    'AS for US',
    'RU for GB',
  ])
  expect(toCountryCode('RU', 'es')).toBe('RU')
})

test("a booking's guest has the country that the name means in the language that was sent, and null if none was", async () => {
  const actor = await service.actor()
  const { listing_id, room_type_id } = await seedBooking(actor)
  const countryOf = async (language: string | null | undefined) => {
    const email = `guest-${crypto.randomUUID()}@example.com`
    const user = await actor.send('POST', '/v1/users', {
      body: { email, first_name: 'Ana', country: 'Kongo', language },
    })
    expect(user.body.data.country).toBe('Kongo')
    const stay = { listing_id, room_type_id, checkin_at: '2032-01-01', checkout_at: '2032-01-03' }
    const { body } = await actor.send('POST', '/v1/bookings', {
      body: { ...stay, user_id: user.body.data.user_id },
    })
    const path = `/v1/integrations/provider_one/bookings/${body.data.booking_id}`
    const read = await actor.send('GET', path)
    return { language: user.body.data.language, country: read.body.data.Booking.guest.country }
  }
  expect(await countryOf('de_at')).toEqual({ language: 'de-AT', country: 'CD' })
  expect(await countryOf('pl')).toEqual({ language: 'pl', country: 'CG' })
  expect(await countryOf('en')).toEqual({ language: 'en', country: null })
  expect(await countryOf(undefined)).toEqual({ language: 'en', country: null })
  expect(await countryOf(null)).toEqual({ language: 'en', country: null })
})
