#!/usr/bin/env bash
# currency-codes 2.2.0, the newest version: its list of ISO 4217 ends on 25 June 2024.
#
# It lacks XCG, the currency of Curaçao and Sint Maarten since 31 March 2025 (amendment 176, announced in December 2023),
# and XAD (amendment 179, May 2025), and it still has CUC, which amendment 178 moved to the historic codes. The number 532
# is ANG's in the list, although XCG has it now: a look-up by number returns a currency that is no longer paid with.
#
# Seen with Node 20.20.2: published 2024-06-25; XCG undefined, XAD undefined, CUC 2, number 532 is ANG
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit --no-save --prefix . currency-codes@2.2.0 >&2
seen=$(node -p "const list = require('currency-codes'); \`\${list.publishDate}; XCG \${list.code('XCG')?.digits}, XAD \${list.code('XAD')?.digits}, CUC \${list.code('CUC')?.digits}, number 532 is \${list.number('532')?.code}\`")
echo "$seen"
[ "$seen" = '2024-06-25; XCG undefined, XAD undefined, CUC 2, number 532 is ANG' ]
