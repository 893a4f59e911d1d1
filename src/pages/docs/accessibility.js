// Runs in the browser next to Scalar's script and repairs Scalar's markup for screen readers and keyboards. It also
// replaces Scalar's placeholder for a key, which looks like a real key.
const repairs = [
  ['button[aria-selected]:not([role])', (element) => element.removeAttribute('aria-selected')],
  ['button[role=search]', (element) => element.removeAttribute('role')],
  [
    'button.show-more[aria-label], [aria-label^="Show all"]',
    (element) => element.removeAttribute('aria-label'),
  ],
  ['.client-libraries-list[role=tablist]', (element) => toGroup(element)],
  ['.scalar-code-copy:not([aria-label])', (element) => name(element, 'Copy')],
  ['.client-libraries__select:not([aria-label])', (element) => name(element, 'More languages')],
  ['[role=textbox][contenteditable]:not([aria-label])', (element) => name(element, 'Value')],
  ['button:not([aria-label]):not([aria-labelledby])', (element) => nameIfSilent(element)],
  ['input[placeholder^=QUxMIFlPVVI]', (element) => element.setAttribute('placeholder', 'Your key')],
  ['pre, pre code, .cm-scroller, ul.endpoints', (element) => focusable(element)],
]

function name(element, text) {
  element.setAttribute('aria-label', text)
}

/** Turns the language list into a group. Its buttons are not tabs, because they share one panel with a menu. */
function toGroup(list) {
  list.setAttribute('role', 'group')
  list.removeAttribute('aria-orientation')
  for (const tab of list.querySelectorAll('[role=tab]')) {
    tab.removeAttribute('role')
    tab.removeAttribute('aria-selected')
  }
}

function nameIfSilent(element) {
  const spoken = element.cloneNode(true)
  for (const hidden of spoken.querySelectorAll('[aria-hidden=true]')) hidden.remove()
  if (spoken.textContent.trim() || element.title) return
  name(element, element.matches('[class*=search]') ? 'Search' : 'More')
}

function focusable(element) {
  const isScrolled = element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight
  if (isScrolled && !element.hasAttribute('tabindex')) element.setAttribute('tabindex', '0')
}

let isPlanned = false

function repairSoon() {
  if (isPlanned) return
  isPlanned = true
  requestAnimationFrame(() => {
    isPlanned = false
    for (const [selector, repair] of repairs)
      for (const element of document.querySelectorAll(selector)) repair(element)
  })
}

new MutationObserver(repairSoon).observe(document.documentElement, { childList: true, subtree: true })
repairSoon()
