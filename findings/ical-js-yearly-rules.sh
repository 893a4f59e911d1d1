#!/usr/bin/env bash
# ical.js 2.2.1: yearly rules name other days than RFC 5545, for two of the RFC's own examples (section 3.8.5.3) too.
#
# "Monday of week number 20" and "every 20th Monday of the year" become every Monday after the start. A day that a month
# lacks runs over into the next month instead of being left out (section 3.3.10: invalid dates are ignored): 29 February
# becomes 1 March, and 30 February becomes 2 March. So whoever blocks nights by such rules blocks others than the sender.
#
# Seen (rule, RFC 5545, ical.js):
#   BYWEEKNO=20;BYDAY=MO from 12 May 1997   1997-05-12 1998-05-11 1999-05-17   1997-05-19 1997-05-26 1997-06-02
#   BYDAY=20MO from 19 May 1997             1997-05-19 1998-05-18 1999-05-17   1997-05-19 1997-05-26 1997-06-02
#   from 29 February 2024                   2024-02-29 2028-02-29 2032-02-29   2024-02-29 2025-03-01 2026-03-01
#   BYMONTH=1,2,3 from 30 January 2026      2026-01-30 2026-03-30 2027-01-30   2026-01-30 2026-03-02 2026-03-30
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit --no-save --prefix . ical.js@2.2.1 >&2
cat > days.mjs <<'JS'
import ICAL from 'ical.js'
const [start, rule] = process.argv.slice(2)
const days = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateString(start))
console.log(String(days.next()), String(days.next()), String(days.next()))
JS
status=0
check() {
  local seen
  seen=$(node days.mjs "$1" "$2")
  printf '%s %s\n  RFC 5545 %s\n  ical.js  %s\n' "$1" "$2" "$3" "$seen"
  [ "$seen" = "$4" ] || status=1
}
check 1997-05-12 'FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO' '1997-05-12 1998-05-11 1999-05-17' '1997-05-19 1997-05-26 1997-06-02'
check 1997-05-19 'FREQ=YEARLY;BYDAY=20MO' '1997-05-19 1998-05-18 1999-05-17' '1997-05-19 1997-05-26 1997-06-02'
check 2024-02-29 'FREQ=YEARLY' '2024-02-29 2028-02-29 2032-02-29' '2024-02-29 2025-03-01 2026-03-01'
check 2026-01-30 'FREQ=YEARLY;BYMONTH=1,2,3' '2026-01-30 2026-03-30 2027-01-30' '2026-01-30 2026-03-02 2026-03-30'
exit "$status"
