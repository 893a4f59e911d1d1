// Adds the parts of a page that need a script: tabs, copy buttons, the outline's current heading, and the search.

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

/** Shows one sample of each group: the sample that was chosen, the one that is shown already, or the first one. */
function choose(language) {
  for (const group of document.querySelectorAll('.tabs')) {
    const figures = [...group.querySelectorAll('figure')]
    const shown =
      figures.find((one) => one.dataset.language === language) ?? figures.find((one) => !one.hidden)
    for (const figure of figures) figure.hidden = figure !== shown
    for (const button of group.querySelectorAll('[aria-pressed]'))
      button.ariaPressed = String(button.textContent === shown.dataset.language)
  }
}

for (const group of document.querySelectorAll('.tabs')) {
  const buttons = [...group.querySelectorAll('figcaption')].map((caption) => {
    const language = caption.textContent
    const onclick = () => {
      sessionStorage.setItem('language', language)
      choose(language)
    }
    caption.parentElement.dataset.language = language
    return make('button', { type: 'button', ariaPressed: 'false', onclick }, language)
  })
  group.prepend(make('div', { role: 'group', ariaLabel: 'Language' }, ...buttons))
}
choose(sessionStorage.getItem('language'))

for (const figure of document.querySelectorAll('figure')) {
  const code = figure.querySelector('code')
  const button = make('button', { type: 'button', ariaLive: 'polite' }, 'Copy')
  button.onclick = async () => {
    // A page without TLS cannot use the clipboard, so the code is selected instead.
    if (!navigator.clipboard) return getSelection().selectAllChildren(code)
    await navigator.clipboard.writeText(code.textContent)
    button.textContent = 'Copied'
  }
  figure.append(button)
}

/** Highlights the outline entry of the last heading that was scrolled past. */
function markPlace() {
  const headings = [...document.querySelectorAll('main h2')]
  const current = headings.findLast((one) => one.getBoundingClientRect().top < 120) ?? headings[0]
  for (const link of document.querySelectorAll('.outline a'))
    link.ariaCurrent = link.hash === `#${current.id}` ? 'true' : null
}
addEventListener('scroll', markPlace, { passive: true })
markPlace()

const search = document.querySelector('search')
const input = search.querySelector('input')
const list = search.querySelector('ul')
let sections

/** Returns up to eight sections that contain all words. Sections with the words in their headings come first. */
function find(words) {
  const scored = sections.map((section) => {
    const title = `${section.title} ${section.chapter}`.toLowerCase()
    const text = section.text.toLowerCase()
    const scores = words.map((word) => (title.includes(word) ? 10 : 0) + (text.includes(word) ? 1 : 0))
    return { section, score: scores.includes(0) ? 0 : scores.reduce((sum, one) => sum + one) }
  })
  const found = scored.filter(({ score }) => score > 0).sort((one, other) => other.score - one.score)
  return found.slice(0, 8).map(({ section }) => section)
}

function resultOf({ chapter, title, href, text }, [word]) {
  const start = Math.max(0, text.toLowerCase().indexOf(word) - 40)
  const shown = title === chapter ? title : `${chapter}: ${title}`
  return make('li', {}, make('a', { href }, shown, make('small', {}, `…${text.slice(start, start + 120)}…`)))
}

async function showResults() {
  sections ??= await (await fetch('/guide/search.json')).json()
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
  const found = find(words).map((one) => resultOf(one, words))
  list.replaceChildren(...(found.length > 0 ? found : [make('li', {}, 'Nothing found')]))
  list.hidden = words.length === 0
}
input.addEventListener('input', showResults)
addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') list.hidden = true
})
search.hidden = false

// Creating the tabs moved the text below them, so the browser's jump to the anchor landed in the wrong place.
document.getElementById(location.hash.slice(1))?.scrollIntoView()
