import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'

const highlighter = hljs.newInstance()
// Shorter classes make smaller pages. The style sheet names them only inside `pre`.
highlighter.configure({ classPrefix: '' })
highlighter.registerLanguage('sh', bash)
highlighter.registerLanguage('js', javascript)
highlighter.registerLanguage('json', json)
highlighter.registerLanguage('python', python)
highlighter.registerLanguage('php', php)
highlighter.registerLanguage('ruby', ruby)
highlighter.registerLanguage('go', go)
highlighter.registerLanguage('java', java)

/**
 * Returns a sample as HTML whose words have classes such as `keyword` and `string`. The text stays the same, so that a
 * copied sample runs. A sample in a language that is not registered is only escaped.
 */
export function highlight(code: string, language: string): string {
  if (!highlighter.getLanguage(language)) return Bun.escapeHTML(code)
  return highlighter.highlight(code, { language }).value
}
