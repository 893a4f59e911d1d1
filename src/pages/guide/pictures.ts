import { readFileSync } from 'node:fs'

/** The folder with the guide's drawings. */
const folder = new URL('../../../docs/guide/pictures/', import.meta.url)

/**
 * Replaces the text of each picture with its drawing. A picture is a fence of the language `picture`, whose text says
 * in words what `docs/guide/pictures/<name>.svg` shows:
 *
 *     ```picture booking-states
 *     A new booking is pending. …
 *     ```
 *
 * So the Markdown is complete for readers in a terminal and for agents, and a page has the text as the drawing's
 * description for those who cannot see it. The drawing is part of the page, so that it takes the page's colours.
 */
export function drawPictures(markdown: string): string {
  return markdown.replace(/^```picture ([a-z-]+)\n([\s\S]*?)^```$/gm, (_, name, text) => draw(name, text))
}

function draw(name: string, text: string): string {
  const description = Bun.escapeHTML(text.trim().replaceAll('\n', ' '))
  const drawing = readFileSync(new URL(`${name}.svg`, folder), 'utf8')
    // A blank line would end the block of HTML in the Markdown.
    .replace(/\n\s*/g, '')
    .replace('<svg ', `<svg role="img" aria-labelledby="${name}-title ${name}-text" `)
    .replace(
      /<title>(.*?)<\/title>/,
      `<title id="${name}-title">$1</title><desc id="${name}-text">${description}</desc>`,
    )
  return `<div class="picture">${drawing}</div>`
}
