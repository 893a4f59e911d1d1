import { type Chapter, servedMarkdown, slugOf } from './chapters.ts'
import { highlight } from './highlight.ts'
import { drawPictures } from './pictures.ts'

/** A page of this service. */
interface Page {
  title: string
  /** The content of `main`, as HTML. */
  main: string
  summary?: string
  /** Additional elements for the head, as HTML. */
  head?: string
  /** Navigation shown beside the content, as HTML. */
  aside?: string
}

/** The link element that points agents to the service's overview. */
export const agentsElement = '<link rel="llms-txt" type="text/plain" href="/llms.txt">'

/** Renders a page around its content. The page loads nothing from other hosts and has no inline scripts or styles. */
export function renderPage({ title, main, summary = '', head = '', aside = '' }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${Bun.escapeHTML(title)} · Partner interface</title>
<meta name="description" content="${Bun.escapeHTML(summary.replaceAll('`', ''))}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/guide/guide.css">
${agentsElement}
${head}<script src="/guide/guide.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a href="/">Partner interface</a>
<nav aria-label="Site"><a href="/guide">Guide</a><a href="/docs">Reference</a><a href="/console">Console</a></nav>
<search hidden><input type="search" placeholder="Search the guide" aria-label="Search the guide"><ul aria-label="Results" hidden></ul></search>
</header>
<div class="columns">
<main id="main">
${main}</main>
${aside}</div>
<footer>For agents: <a href="/llms.txt">/llms.txt</a>, <a href="/llms-full.txt">/llms-full.txt</a>, <a href="/openapi.json">/openapi.json</a></footer>
</body>
</html>
`
}

/** Renders a chapter with the list of all chapters, its own headings, and links to the previous and next chapters. */
export function renderChapter(chapter: Chapter, chapters: Chapter[], publicUrl: string): string {
  const content = renderMarkdown(servedMarkdown(chapter, publicUrl, ''))
  const headings = [...content.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)]
  const outline = headings.map(([, id, text]) => `<li><a href="#${id}">${text}</a></li>`).join('\n')
  const index = chapters.indexOf(chapter)
  const neighbour = (at: number, rel: string, label: string) => {
    const other = chapters[at]
    if (!other) return ''
    return `<a rel="${rel}" href="/guide/${other.name}">${label}: ${inline(other.title)}</a>`
  }
  return renderPage({
    title: chapter.title,
    summary: chapter.summary,
    head: `<link rel="alternate" type="text/markdown" href="/guide/${chapter.name}.md">\n`,
    main: `${content}
<nav class="neighbours" aria-label="Neighbouring chapters">
${neighbour(index - 1, 'prev', '← Previous')}
${neighbour(index + 1, 'next', 'Next →')}
</nav>
<p><a href="/guide/${chapter.name}.md">This chapter as Markdown</a></p>
`,
    aside: `<nav class="side chapters" aria-label="Chapters">
<h2>Chapters</h2>
<ul>
${chapters.map((one) => chapterLink(one, one === chapter)).join('\n')}
</ul>
</nav>
<nav class="side outline" aria-label="On this page">
<h2>On this page</h2>
<ul>
${outline}
</ul>
</nav>
`,
  })
}

function chapterLink({ name, title }: Chapter, isCurrent: boolean): string {
  return `<li><a href="/guide/${name}"${isCurrent ? ' aria-current="page"' : ''}>${inline(title)}</a></li>`
}

/** Renders the list of all chapters. */
export function renderOverview(chapters: Chapter[]): string {
  const items = chapters.map(
    ({ name, title, summary }) =>
      `<li><p><a href="/guide/${name}">${inline(title)}</a><br>${inline(summary)}</p></li>`,
  )
  const summary = 'Everything that an integration needs, in the order in which it is built.'
  return renderPage({
    title: 'Guide',
    summary,
    main: `<h1>Guide</h1>\n<p>${summary}</p>\n<ol>\n${items.join('\n')}\n</ol>\n`,
  })
}

/** Renders the home page from its Markdown. */
export function renderHome(markdown: string): string {
  const [, summary = ''] = markdown.split('\n\n')
  return renderPage({ title: 'Home', summary, main: renderMarkdown(markdown) })
}

/**
 * Converts our own Markdown to HTML, with its pictures drawn and its samples highlighted. Consecutive programs in
 * different languages are grouped in a `div.tabs`.
 */
export function renderMarkdown(markdown: string): string {
  const html = Bun.markdown
    .html(joinLabels(drawPictures(markdown)))
    .replace(
      /<(h[1-6])>(.*?)<\/\1>/g,
      (_, tag, text) => `<${tag} id="${slugOf(textOf(text))}">${text}</${tag}>`,
    )
    .replace(/<table>[\s\S]*?<\/table>/g, (table) => `<div class="table" tabindex="0">${table}</div>`)
  return html.replace(/(?:<pre><code(?: class="language-[^"]+")?>[\s\S]*?<\/code><\/pre>\s*)+/g, (run) => {
    const samples = [...run.matchAll(/<pre><code(?: class="language-([^"]+)")?>([\s\S]*?)<\/code><\/pre>/g)]
    return groupSamples(samples.map(([, info = 'text', html = '']) => toSample(info, unescapeHtml(html))))
  })
}

/** Separates a sample's language from its label, because a fence passes on only one word. */
const labelMark = ':'

/** Joins the language and the label of each fence whose first line is, for example, `sh tab One file`. */
function joinLabels(markdown: string): string {
  return markdown.replace(
    /^```(\w+) tab (.+)$/gm,
    (_, language, label) => `\`\`\`${language}${labelMark}${encodeURIComponent(label)}`,
  )
}

function toSample(info: string, code: string): Sample {
  const [language = '', label] = info.split(labelMark)
  return { language, code, label: label === undefined ? undefined : decodeURIComponent(label) }
}

interface Sample {
  language: string
  code: string
  /** The tab's caption, for samples that do the same in the same language. */
  label: string | undefined
}

const captions: Record<string, string> = {
  js: 'JavaScript',
  python: 'Python',
  php: 'PHP',
  ruby: 'Ruby',
  go: 'Go',
  java: 'Java',
  json: 'JSON',
  text: 'Text',
}

/**
 * Renders consecutive samples. Programs in different languages form a group, and so do those with labels; all other
 * samples stand alone.
 */
function groupSamples(samples: Sample[]): string {
  const groups: Sample[][] = []
  for (const sample of samples) {
    const last = groups.at(-1)
    if (last?.every((one) => isAlternative(one, sample))) last.push(sample)
    else groups.push([sample])
  }
  const rendered = groups.map((group) => {
    const figures = group.map(renderSample).join('')
    return group.length > 1 ? `<div class="tabs">${figures}</div>\n` : `${figures}\n`
  })
  return rendered.join('')
}

/** Returns true if two samples do the same in different ways. */
function isAlternative(one: Sample, other: Sample): boolean {
  if (!isProgram(one) || !isProgram(other)) return false
  if (one.label === undefined && other.label === undefined) return one.language !== other.language
  return one.label !== undefined && other.label !== undefined && one.label !== other.label
}

function isProgram({ language }: Sample): boolean {
  return ['sh', 'js', 'python', 'php', 'ruby', 'go', 'java'].includes(language)
}

function renderSample({ language, code, label }: Sample): string {
  const shell = code.includes('curl ') ? 'curl' : 'Shell'
  const caption = label ?? (language === 'sh' ? shell : captions[language])
  return `<figure><figcaption>${caption}</figcaption><pre tabindex="0"><code>${highlight(code, language)}</code></pre></figure>`
}

/** Undoes the escaping of `Bun.markdown`, which has no option to leave code as it is. */
function unescapeHtml(html: string): string {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}

/** Renders one line of Markdown without a paragraph around it. */
function inline(markdown: string): string {
  return Bun.markdown
    .html(markdown)
    .trim()
    .replace(/^<p>|<\/p>$/g, '')
}

function textOf(html: string): string {
  return html.replace(/<[^>]*>/g, '').replace(/&\w+;/g, '')
}
