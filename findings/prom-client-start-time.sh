#!/usr/bin/env bash
# prom-client 15.1.3: AggregatorRegistry.aggregate(), with which a cluster adds up its workers' metrics, leaves out
# process_start_time_seconds without a word, even for a single worker, although it keeps process_cpu_seconds_total and
# process_resident_memory_bytes. A Prometheus that scrapes a cluster therefore cannot tell whether a counter that falls
# belongs to a process that was restarted. Without aggregation, the metric is there, but in whole seconds, so two
# processes that start in the same second cannot be told apart by it.
#
# Output:
#   alone: cpu yes, memory yes, start yes (whole seconds: yes)
#   aggregated: cpu yes, memory yes, start no
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund prom-client@15.1.3 >/dev/null
cat > try.cjs <<'EOF'
const { AggregatorRegistry, collectDefaultMetrics, Registry } = require('prom-client')

async function main() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const alone = await registry.metrics()
  const aggregated = await AggregatorRegistry.aggregate([await registry.getMetricsAsJSON()]).metrics()
  const has = (text, name) => (new RegExp(`^${name} `, 'm').test(text) ? 'yes' : 'no')
  const shown = (text) =>
    [
      `cpu ${has(text, 'process_cpu_seconds_total')}`,
      `memory ${has(text, 'process_resident_memory_bytes')}`,
      `start ${has(text, 'process_start_time_seconds')}`,
    ].join(', ')
  const isWhole = /^process_start_time_seconds \d+$/m.test(alone) ? 'yes' : 'no'
  console.log(`alone: ${shown(alone)} (whole seconds: ${isWhole})`)
  console.log(`aggregated: ${shown(aggregated)}`)
  process.exit(0)
}
main()
EOF
node try.cjs | tee seen
cat > expected <<'EOF'
alone: cpu yes, memory yes, start yes (whole seconds: yes)
aggregated: cpu yes, memory yes, start no
EOF
diff expected seen
