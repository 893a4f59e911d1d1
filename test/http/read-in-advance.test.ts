import { expect, test } from 'vitest'
import { testApp } from '../support/app.ts'

test('the framework copies no headers and parses no cookies and no query before a route begins', async () => {
  const { app } = await testApp()
  const served = app.routes.filter(({ path }) => /^\/(v1|sandbox)\//.test(path))
  expect(served.length).toBeGreaterThan(100)
  for (const { method, path, compile } of served) {
    const begin = compile().toString()
    expect(begin, `${method} ${path}`).toContain('handler(c)')
    expect(begin, `${method} ${path}`).not.toMatch(/c\.headers|parseCookie|parseQuery/)
  }
})
