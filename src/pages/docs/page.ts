import { swagger } from '@elysiajs/swagger'
import { Elysia } from 'elysia'

const path = '/docs'

/** Accessibility fixes: Scalar's second and third text colours lack contrast, and some click targets are too small. */
const styles = `
.light-mode { --scalar-color-2: #4a4a4a; --scalar-color-3: #5f5f5f; --scalar-sidebar-color-2: #4a4a4a; --scalar-color-green: #1a7f37; --scalar-color-orange: #b04500; --scalar-color-blue: #0550ae; --scalar-color-yellow: #855300; --scalar-color-red: #b42318; }
.dark-mode { --scalar-color-2: #c8c8c8; --scalar-color-3: #b0b0b0; --scalar-sidebar-color-2: #c8c8c8; --scalar-color-red: #ff8b85; }
.sidebar-search-placeholder { color: inherit; opacity: 1; }
button, a.endpoint { min-width: 24px; min-height: 24px; }
`

/**
 * Renders the documentation page: the plugin's Scalar page with our own document and no assets from other hosts.
 *
 * @param script address of Scalar's script
 * @param document address of the OpenAPI document
 * @param repairs address of the script that makes the page accessible
 */
export async function renderPage(script: string, document: string, repairs: string): Promise<string> {
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
        spec: { url: document },
        url: document,
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
        defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
        hiddenClients: hiddenClients(),
        authentication: { preferredSecurityScheme: 'apiKey' },
        // biome-ignore lint/suspicious/noExplicitAny: the plugin's types predate the script's configuration
      } as any,
    }),
  )
  const html = await (await plugin.handle(new Request(`http://localhost${path}`))).text()
  return (
    html
      // The plugin keeps `spec` in addition to `url`, but the script reads the document's address from `url`.
      .replace(/"spec":\{[^}]*\},?/, '')
      .replace('<html>', '<html lang="en">')
      // The element only carries the configuration. As a script, it would violate the content security policy.
      .replace('id="api-reference"', 'id="api-reference" type="application/json"')
      .replace('</head>', `<link rel="icon" href="data:,"><script src="${repairs}" defer></script></head>`)
  )
}

/** Returns the clients to hide, so that only samples in curl, JavaScript and Python are shown. */
function hiddenClients(): Record<string, true | string[]> {
  const others = ['c', 'clojure', 'csharp', 'dart', 'fsharp', 'go', 'http', 'java', 'kotlin', 'objc', 'ocaml']
  const more = ['php', 'powershell', 'r', 'ruby', 'rust', 'swift']
  return {
    ...Object.fromEntries([...others, ...more].map((name) => [name, true as const])),
    js: ['axios', 'jquery', 'ofetch', 'xhr'],
    node: ['axios', 'ofetch', 'fetch'],
    python: ['httpx_sync', 'httpx_async', 'aiohttp'],
    shell: ['httpie', 'wget'],
  }
}
