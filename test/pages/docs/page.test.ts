import { expect, test } from 'vitest'
import { sharedServices, testApp } from '../../support/app.ts'
import { desktop, docsOf, openBrowser, saveShot, seriousFindings } from '../../support/browser.ts'

const service = await testApp()
const [server] = sharedServices()
const browser = await openBrowser(server.url)

const openPage = docsOf(browser)

test('the documentation page is accessible and loads all guides and operations without errors or foreign requests', async () => {
  const { page, complaints } = await openPage()
  for (const guide of [
    'First request',
    'Authentication',
    'Sandbox',
    'Pagination',
    'Polling without loss',
    'Changes as they happen',
    'Safe retries',
    'Errors',
    'Rate limits',
  ]) {
    expect(await page.getByRole('heading', { name: guide, exact: true }).count()).toBeGreaterThan(0)
  }
  const { body } = await service.send('GET', '/openapi.json')
  const tags = (body.tags as { name: string }[]).map(({ name }) => name)
  for (const tag of tags)
    expect(await page.getByRole('heading', { name: new RegExp(`^${tag}\\b`) }).count()).toBeGreaterThan(0)
  await saveShot(page, 'desktop')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(desktop.width)
  expect(await seriousFindings(page)).toEqual([])
  expect(complaints).toEqual([])
  await page.close()
})
