#!/usr/bin/env bash
# Short and narrow names of Intl.DisplayNames can be the ISO code of another country, and long ones its three-letter code.
#
# In Spanish, Catalan, Galician and Breton, the short name of the United Kingdom is RU, the code of Russia. In Indonesian,
# that of the United States is AS, the code of American Samoa. The Vietnamese name of Russia is Nga, which is Nigeria's
# three-letter code if case is ignored, as i18n-iso-countries 7.14.0 does. So text that may be a name or a code cannot be
# read without a rule for which of them comes first, and code look-ups without regard to case are unsafe for names.
#
# Seen with Node 20.20.2 (ICU 78.2):
#   RU: br, ca, es, gl for GB; AS: id for US
#   Nga is RU by name in Vietnamese, and NG as a code
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit --no-save --prefix . i18n-iso-countries@7.14.0 >&2
cat > look.cjs <<'JS'
const countries = require('i18n-iso-countries')
const codes = Object.keys(countries.getAlpha2Codes())
const found = new Set()
for (const language of Intl.DisplayNames.supportedLocalesOf(countries.getSupportedLanguages())) {
  const names = new Intl.DisplayNames([language], { type: 'region', style: 'short', fallback: 'none' })
  for (const code of codes) {
    const name = names.of(code)
    if (name !== code && codes.includes(name)) found.add(`${name} ${language} for ${code}`)
  }
}
const seen = [...found].sort().join(', ')
const nga = `${countries.getAlpha2Code('Nga', 'vi')} ${countries.toAlpha2('Nga')}`
console.log(seen)
console.log(`Nga: by name and as a code ${nga}`)
const expected = 'AS id for US, RU br for GB, RU ca for GB, RU es for GB, RU gl for GB'
process.exit(seen === expected && nga === 'RU NG' ? 0 : 1)
JS
node look.cjs
