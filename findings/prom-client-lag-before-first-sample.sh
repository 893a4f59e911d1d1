#!/bin/bash
# prom-client 15.1.3 resets its histogram of the event loop's lag on each scrape and shows the minimum of no samples:
# 2^63 ns, so nodejs_eventloop_lag_min_seconds is 9223372036.85 (292 years) on a scrape that comes before the next
# sample, and the mean and the deviation are NaN. An average over workers is then NaN as well.
#
# Seen with Node 20 and a precision of 1,000 ms, two scrapes in a row:
#   second scrape: min 9223372036.854776 mean Nan
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund prom-client@15.1.3 >/dev/null
cat >scrape.cjs <<'JS'
const { collectDefaultMetrics, register } = require('prom-client')
collectDefaultMetrics({ eventLoopMonitoringPrecision: 1000 })
const valueOf = (text, name) => new RegExp(`^${name} (.*)$`, 'm').exec(text)[1]
const main = async () => {
  await register.metrics()
  const text = await register.metrics()
  const min = valueOf(text, 'nodejs_eventloop_lag_min_seconds')
  const mean = valueOf(text, 'nodejs_eventloop_lag_mean_seconds')
  console.log(`second scrape: min ${min} mean ${mean}`)
  process.exit(Number(min) > 9e9 && mean === 'Nan' ? 0 : 1)
}
main()
JS
node scrape.cjs
