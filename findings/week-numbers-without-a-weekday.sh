#!/usr/bin/env bash
# rrule 2.8.1, rrule-temporal 2.2.8 and ical.js 2.2.1 read one rule in three ways: a week of the year without a weekday.
#
# FREQ=YEARLY;BYWEEKNO=20 from Monday 12 May 1997 names no weekday. RFC 5545 (section 3.3.10) takes what a rule lacks from
# the start, so it is the Monday of each week 20. rrule names all seven days of the week (so does its model,
# python-dateutil 2.9.0), rrule-temporal the Mondays, and ical.js no day at all, not even the start. So one calendar blocks
# a week, a night or nothing, depending on who reads it.
#
# Seen:
#   rrule           1997-05-12 1997-05-13 1997-05-14 1997-05-15
#   rrule-temporal  1997-05-12 1998-05-11 1999-05-17 2000-05-15
#   ical.js         (none)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit --no-save --prefix . rrule@2.8.1 rrule-temporal@2.2.8 ical.js@2.2.1 >&2
cat > days.mjs <<'JS'
import ICAL from 'ical.js'
import rrule from 'rrule'
import { RRuleTemporal } from 'rrule-temporal'
const rule = 'FREQ=YEARLY;BYWEEKNO=20;COUNT=4'
const text = `DTSTART:19970512T000000Z\nRRULE:${rule}`
const print = (name, days) => console.log(`${name}: ${days.join(' ')}`)
print('rrule', rrule.rrulestr(text).all().map((day) => day.toISOString().slice(0, 10)))
print('rrule-temporal', new RRuleTemporal({ rruleString: text }).all().map((day) => String(day).slice(0, 10)))
const first = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateString('1997-05-12')).next()
print('ical.js', first ? [first] : [])
JS
seen=$(node days.mjs)
echo "$seen"
[ "$seen" = 'rrule: 1997-05-12 1997-05-13 1997-05-14 1997-05-15
rrule-temporal: 1997-05-12 1998-05-11 1999-05-17 2000-05-15
ical.js: ' ]
