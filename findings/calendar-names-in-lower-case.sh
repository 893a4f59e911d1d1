#!/usr/bin/env bash
# node-ical 0.27.1, ts-ics 2.4.5 and ical.js 2.2.1: property names in lower case, which RFC 5545 allows (section 2: names
# are not case-sensitive).
#
# node-ical returns the event without its dates. ts-ics takes each such line for the rest of the line before it, so here
# the dates become a part of the UID, and the event has none. Neither reports anything. ical.js reads the dates. So an event
# of a sender that writes in lower case takes no night in the first two.
#
# Seen:
#   node-ical  start undefined
#   ts-ics     start undefined, and a UID of 3 lines
#   ical.js    start 2026-12-04
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit --no-save --prefix . node-ical@0.27.1 ts-ics@2.4.5 ical.js@2.2.1 >&2
cat > read.mjs <<'JS'
import ICAL from 'ical.js'
import nodeIcal from 'node-ical'
import { convertIcsCalendar } from 'ts-ics'
const text = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Example//Example//EN',
  'BEGIN:VEVENT',
  'DTSTAMP:20261130T081500Z',
  'UID:one',
  'dtstart;value=date:20261204',
  'dtend;value=date:20261206',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n')
const ofNodeIcal = Object.values(nodeIcal.sync.parseICS(text)).find(({ type }) => type === 'VEVENT')
console.log('node-ical: start', ofNodeIcal.start)
const [ofTsIcs] = convertIcsCalendar(undefined, text).events
console.log('ts-ics: start', ofTsIcs.start, 'lines of the UID', ofTsIcs.uid.split('\n').length)
const calendar = new ICAL.Component(ICAL.parse(text))
console.log('ical.js: start', String(new ICAL.Event(calendar.getFirstSubcomponent('vevent')).startDate))
JS
seen=$(node read.mjs)
echo "$seen"
[ "$seen" = 'node-ical: start undefined
ts-ics: start undefined lines of the UID 3
ical.js: start 2026-12-04' ]
