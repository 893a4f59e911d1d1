import { readFileSync } from 'node:fs'

const style = '/docs/assets/changelog.css'

/** Returns `CHANGELOG.md` as an HTML page. The file begins with the kinds of change that need no notice. */
export function changelogPage(): string {
  const markdown = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Partner interface: changelog</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
</head>
<body>
<nav><a href="/docs">Documentation</a></nav>
<main>${Bun.markdown.html(markdown)}</main>
</body>
</html>
`
}

/** The changelog page's style sheet, light and dark. */
export const changelogStyle = `:root { color-scheme: light dark; background: light-dark(#ffffff, #14171c); color: light-dark(#1b1f24, #e6e9ee); font-family: system-ui, sans-serif; line-height: 1.6; }
body { margin: 0 auto; max-width: 44rem; padding: 2rem 1.25rem 4rem; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
a { color: light-dark(#0550ae, #79b8ff); }
code { font-size: 0.9em; }
`
