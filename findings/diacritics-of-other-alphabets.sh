#!/usr/bin/env bash
# diacritics 1.3.0: besides accents, it replaces whole letters of other alphabets by Latin letters that look like them.
#
# The Cyrillic л becomes n, the Greek ρ becomes p, and no other letter of these alphabets changes. So a normalized
# Russian or Greek text mixes two alphabets, two different texts can become equal, and a search in text that was
# normalized by something else (Unicode decomposition, for example) no longer finds a word with one of these letters.
# i18n-iso-countries 7.14.0 compares country names in this form.
#
# Seen with Node 20.20.2:
#   Польша -> Поnьша
#   Κύπρος -> Κύπpος
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit --no-save --prefix . diacritics@1.3.0 >&2
cat > look.cjs <<'JS'
const { remove } = require('diacritics')
const decomposed = (text) => text.normalize('NFD').replace(/\p{Mn}/gu, '')
const isMixed = (text) => /\p{Script=Latin}/u.test(text) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(text)
const results = ['Польша', 'Κύπρος'].map((text) => {
  console.log(`${text} -> ${remove(text)}; by decomposition ${decomposed(text)}`)
  return isMixed(remove(text)) && !isMixed(decomposed(text))
})
process.exit(results.every(Boolean) ? 0 : 1)
JS
node look.cjs
