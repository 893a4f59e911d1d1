#!/usr/bin/env bash
# Intl.NumberFormat of Node 20.20.2 and Bun 1.4.5, both with ICU 78: one program rounds the same amount differently.
#
# Node follows CLDR's customary digits, in which HUF, IDR, COP, PKR, ALL, IQD and others have none. Bun follows ISO 4217
# for these, in which they have two (IQD three), but gives UYW two instead of four. Both give gold and the other codes
# without a minor unit two digits. So an amount in such a currency must not be rounded by what the formatter shows; the
# package currency-codes 2.2.0 has the digits of ISO 4217.
#
# Seen (code: ISO 4217, Node, Bun):
#   HUF 2 0 2, IDR 2 0 2, COP 2 0 2, PKR 2 0 2, IQD 3 0 3, UYW 4 4 2, XAU 0 2 2, JPY 0 0 0, KWD 3 3 3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit --no-save --prefix . node@20.20.2 bun@1.4.5 currency-codes@2.2.0 >&2
cat > digits.cjs <<'JS'
const digits = (currency) =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits
console.log(process.argv[2].split(',').map(digits).join(' '))
JS
codes=HUF,IDR,COP,PKR,IQD,UYW,XAU,JPY,KWD
iso=$(node -p "'$codes'.split(',').map((code) => require('currency-codes').code(code).digits).join(' ')")
in_node=$(node_modules/.bin/node digits.cjs "$codes")
in_bun=$(node_modules/.bin/bun digits.cjs "$codes")
printf '%-9s%s\n' codes "${codes//,/ }" 'ISO 4217' "$iso" Node "$in_node" Bun "$in_bun"
[ "$iso" = '2 2 2 2 3 4 0 0 3' ] && [ "$in_node" = '0 0 0 0 0 4 2 0 3' ] && [ "$in_bun" = '2 2 2 2 3 2 2 0 3' ]
