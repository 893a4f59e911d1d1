#!/usr/bin/env bash
# node-ical 0.27.1 and ical.js 2.2.1: a change of "this and all later" occurrences (RANGE=THISANDFUTURE).
#
# A series of six days from 4 December; from the 6th on, it is moved to the 16th (RFC 5545, section 3.2.13: the later ones
# are moved by the same difference). ical.js moves all four. node-ical's expansion moves the one and leaves the later three
# where they were, so three nights that are free are taken, and three that are taken are free.
#
# Seen:
#   node-ical  2026-12-04 2026-12-05 2026-12-07 2026-12-08 2026-12-09 2026-12-16
#   ical.js    2026-12-04 2026-12-05 2026-12-16 2026-12-17 2026-12-18 2026-12-19
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-fund --no-audit --no-save --prefix . node-ical@0.27.1 ical.js@2.2.1 >&2
cat > read.mjs <<'JS'
import ICAL from 'ical.js'
import nodeIcal from 'node-ical'
const text = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Example//Example//EN',
  'BEGIN:VEVENT',
  'UID:one',
  'DTSTAMP:20261130T081500Z',
  'DTSTART;VALUE=DATE:20261204',
  'RRULE:FREQ=DAILY;COUNT=6',
  'END:VEVENT',
  'BEGIN:VEVENT',
  'UID:one',
  'DTSTAMP:20261130T081500Z',
  'RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20261206',
  'DTSTART;VALUE=DATE:20261216',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n')
const window = { from: new Date('2026-12-01T00:00:00Z'), to: new Date('2027-01-31T00:00:00Z') }
const expanded = nodeIcal.expandRecurringEvent(nodeIcal.sync.parseICS(text).one, window)
console.log('node-ical:', ...expanded.map(({ start }) => start.toISOString().slice(0, 10)))
const event = new ICAL.Event(new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent'))
const occurrences = event.iterator()
const days = []
for (let next = occurrences.next(); next; next = occurrences.next())
  days.push(String(event.getOccurrenceDetails(next).startDate))
console.log('ical.js:', ...days)
JS
seen=$(TZ=UTC node read.mjs)
echo "$seen"
[ "$seen" = 'node-ical: 2026-12-04 2026-12-05 2026-12-07 2026-12-08 2026-12-09 2026-12-16
ical.js: 2026-12-04 2026-12-05 2026-12-16 2026-12-17 2026-12-18 2026-12-19' ]
