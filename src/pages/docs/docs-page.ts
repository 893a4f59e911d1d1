import { readFileSync } from 'node:fs'
import { swagger } from '@elysiajs/swagger'
import { Elysia } from 'elysia'
import { agentsElement, renderMarkdown, renderPage } from '../guide/guide-page.ts'
import { listOperations, pathOf } from './operations.ts'
import { type Json, mapValues } from './schemas.ts'

const path = '/docs'

/**
 * Accessibility fixes: Scalar's second and third text colours lack contrast, and some click targets are too small. The
 * placeholder is hidden as soon as Scalar has rendered the page.
 */
const styles = `
.light-mode { --scalar-color-2: #4a4a4a; --scalar-color-3: #5f5f5f; --scalar-sidebar-color-2: #4a4a4a; --scalar-color-green: #1a7f37; --scalar-color-orange: #b04500; --scalar-color-blue: #0550ae; --scalar-color-yellow: #855300; --scalar-color-red: #b42318; }
.dark-mode { --scalar-color-2: #c8c8c8; --scalar-color-3: #b0b0b0; --scalar-sidebar-color-2: #c8c8c8; --scalar-color-red: #ff8b85; }
.sidebar-search-placeholder { color: inherit; opacity: 1; }
button, a.endpoint { min-width: 24px; min-height: 24px; }
.drawing { max-width: 40rem; margin: 10vh auto; padding: 0 1rem; font-family: system-ui, sans-serif; line-height: 1.5; overflow-wrap: anywhere; }
:root:not(:has(.scalar-app)) { color-scheme: light dark; }
body:has(.scalar-app) .drawing { display: none; }
`

/**
 * Renders the reference: the plugin's Scalar page with our own document and no assets from other hosts.
 *
 * @param script address of Scalar's script
 * @param address address of the OpenAPI document
 * @param own addresses of our own scripts; the first script may redirect, so it runs before the page is rendered
 */
export async function renderReference(
  document: Json,
  { script, address, own }: { script: string; address: string; own: string[] },
): Promise<string> {
  const plugin = new Elysia().use(
    swagger({
      path,
      scalarCDN: script,
      documentation: {
        info: {
          title: 'Partner interface',
          version: '1',
          description: 'Documentation of the partner interface',
        },
      },
      scalarConfig: {
        spec: { url: address },
        url: address,
        withDefaultFonts: false,
        theme: 'default',
        customCss: styles,
        hideClientButton: true,
        showDeveloperTools: 'never',
        agent: { disabled: true },
        mcp: { disabled: true },
        telemetry: false,
        persistAuth: false,
        documentDownloadType: 'json',
        // Shows only our own samples, which can be run without changes.
        hiddenClients: true,
        orderSchemaPropertiesBy: 'preserve',
        orderRequiredPropertiesFirst: false,
        authentication: { preferredSecurityScheme: 'apiKey' },
        // biome-ignore lint/suspicious/noExplicitAny: the plugin's types predate the script's configuration
      } as any,
    }),
  )
  const scripts = own.map((source, index) => `<script src="${source}"${index > 0 ? ' defer' : ''}></script>`)
  const html = await (await plugin.handle(new Request(`http://localhost${path}`))).text()
  return (
    html
      // The plugin keeps `spec` in addition to `url`, but the script reads the document's address from `url`.
      .replace(/"spec":\{[^}]*\},?/, '')
      .replace('<html>', '<html lang="en">')
      // The element only carries the configuration. Without this type, it would be an inline script and violate the
      // content security policy.
      .replace('id="api-reference"', 'id="api-reference" type="application/json"')
      .replace('</head>', `<link rel="icon" href="data:,">${agentsElement}${scripts.join('')}</head>`)
      .replace('<body>', `<body>${placeholder(document)}`)
  )
}

/**
 * Adds a type to each schema that is either a named object or null. Without it, Scalar takes the whole document for
 * invalid; with it, generators write a longer type, so only the page's document has it.
 */
export function withUnionTypes(node: Json): Json {
  if (Array.isArray(node)) return node.map(withUnionTypes)
  if (typeof node !== 'object' || node === null) return node
  const typed = mapValues(node, withUnionTypes)
  const isNullableObject = node.anyOf?.[0]?.$ref && !node.type
  return isNullableObject ? { ...typed, type: ['object', 'null'] } : typed
}

/** Renders the content shown until Scalar has rendered the page, or if scripts are disabled. */
function placeholder(document: Json): string {
  const operations = listOperations(document).map(
    (one) => `<li><code>${one.method} ${pathOf(one)}</code> ${Bun.escapeHTML(one.summary)}</li>`,
  )
  return `<main class="drawing">
<h1>Reference of the partner interface</h1>
<p role="status">The page is loading…</p>
<p>Read without it: the <a href="/guide">guide</a>, the <a href="/openapi.json">OpenAPI document</a>, the <a href="/docs/changelog">changelog</a>.</p>
<noscript><p>The page needs JavaScript. These are the operations:</p><ul>${operations.join('')}</ul></noscript>
</main>`
}

/**
 * Returns `CHANGELOG.md` as an HTML page. The file starts with the kinds of changes that may be made without notice.
 */
export function changelogPage(): string {
  const markdown = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
  return renderPage({ title: 'Changelog', main: renderMarkdown(markdown) })
}
