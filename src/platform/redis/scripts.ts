/**
 * Drops hits that have left the window and counts the rest. Unless the caller only peeks, also adds a hit if there is
 * room and reads the record's revision. Everything takes one round trip. The list contains the time of each hit in
 * microseconds on Redis's clock, which all processes share.
 */
export const hitScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local limit = tonumber(ARGV[1])
local takes = ARGV[3] == '1'
local window = tonumber(ARGV[2]) * 1000
local oldest = redis.call('LINDEX', KEYS[1], 0)
while oldest and tonumber(oldest) <= now - window do
  redis.call('LPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], 0)
end
-- Hits in the future were counted before the clock was set back.
local newest = redis.call('LINDEX', KEYS[1], -1)
while newest and tonumber(newest) > now do
  redis.call('RPOP', KEYS[1])
  newest = redis.call('LINDEX', KEYS[1], -1)
end
local count = redis.call('LLEN', KEYS[1])
if not takes then
  local free = newest and tonumber(newest) + window - now or 0
  return {1, math.max(0, limit - count), math.ceil(free / 1000), '0'}
end
local revision = redis.call('GET', KEYS[2]) or '0'
if count < limit then
  redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1, limit - count - 1, tonumber(ARGV[2]), revision}
end
local freed = tonumber(redis.call('LINDEX', KEYS[1], count - limit))
return {0, 0, math.ceil((freed + window - now) / 1000), revision}
`

export interface RateLimitCommands {
  hitWindow(
    window: string,
    revision: string,
    limit: number,
    milliseconds: number,
    takes: 0 | 1,
  ): Promise<[number, number, number, string]>
}

/** Drops expired slots and takes a slot if one is free, in one round trip. Expiry is based on Redis's clock. */
export const takeSlotScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1
`

export interface SlotCommands {
  takeSlot(slots: string, slot: string, limit: number, milliseconds: number): Promise<0 | 1>
}

/**
 * Returns a window's key. The part in braces puts the window on the same cluster node as the record's revision, which is
 * read in the same round trip.
 */
export function windowKey(name: string, record = name): string {
  return `window:{${record}}:${name}`
}

/** Returns the key of a record's revision. */
export function revisionKey(record: string): string {
  return `revision:{${record}}`
}
