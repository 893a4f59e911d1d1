#!/usr/bin/env bash
# i18n-iso-countries 7.14.0: some names belong to another country than the one they are listed under.
#
# Turkmen lists "Eýran" (Iran) under Iraq. Portuguese lists "República Democrática do Congo" under CG, which is the other
# Congo, and has no such name under CD. Hindi lists "फ्रैंच गुआना" (French Guiana) under French Polynesia. So a look-up by
# name returns a valid code of the wrong country. The names that the runtime has for these countries say so too.
#
# Seen with Node 20.20.2 (ICU 78.2):
#   tk Eýran -> IQ, the runtime's name of IR
#   pt República Democrática do Congo -> CG, although CG is the runtime's República do Congo
#   hi फ्रैंच गुआना -> PF, whose name in the runtime is फ़्रेंच पोलिनेशिया
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit --no-save --prefix . i18n-iso-countries@7.14.0 >&2
cat > look.cjs <<'JS'
const countries = require('i18n-iso-countries')
const nameOf = (language, code) => new Intl.DisplayNames([language], { type: 'region' }).of(code)
const found = [
  ['tk', 'Eýran', 'IQ', 'IR'],
  ['pt', 'República Democrática do Congo', 'CG', 'CD'],
  ['hi', 'फ्रैंच गुआना', 'PF', 'GF'],
].map(([language, name, wrong, right]) => {
  const code = countries.getAlpha2Code(name, language)
  console.log(`${language} ${name} -> ${code}; the runtime: ${wrong} ${nameOf(language, wrong)}, ${right} ${nameOf(language, right)}`)
  return code === wrong
})
process.exit(found.every(Boolean) ? 0 : 1)
JS
node look.cjs
