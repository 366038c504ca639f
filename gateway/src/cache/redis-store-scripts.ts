/**
 * The scripts by which processes share results in Redis. Each runs as one atomic step. The sorted set of versions has the version of each tag, and two
 * members more: `~` has the current version, `!` the lowest that is valid. When Redis loses the set, it begins anew above every version before.
 */

/** Sets `current`, as a string. The set begins with the time in microseconds, which grows faster than versions do. */
const READ_CURRENT = `
local current = redis.call('ZSCORE', KEYS[1], '~')
if not current then
  local time = redis.call('TIME')
  current = string.format('%.0f', time[1] * 1000000 + time[2])
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], current, '~', current, '!')
end
`;

/** Sets `now`, in milliseconds. */
const READ_CLOCK = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Finds a result. Keys: the versions, the result. Arguments: tags. Returns the current version; for a valid result its bytes, policy and age besides. */
export const FIND_SCRIPT = `
${READ_CURRENT}
local known = redis.call('HMGET', KEYS[2], 'version', 'tags')
if not known[1] then return { current } end
local version = tonumber(known[1])
local function isOutdated(tags)
  for _, tag in ipairs(tags) do
    local changed = redis.call('ZSCORE', KEYS[1], tag)
    if changed and tonumber(changed) > version then return true end
  end
  return false
end
local lowest = redis.call('ZSCORE', KEYS[1], '!')
if not lowest or version < tonumber(lowest) or isOutdated(cjson.decode(known[2])) then
  redis.call('DEL', KEYS[2])
  return { current }
end
if isOutdated(ARGV) then return { current } end
${READ_CLOCK}
local kept = redis.call('HMGET', KEYS[2], 'bytes', 'policy', 'born')
return { current, kept[1], kept[2], string.format('%.0f', now - tonumber(kept[3])) }
`;

/**
 * Keeps a result, unless a newer one is kept. Key: the result. Arguments: version, bytes, policy, tags as a JSON list, age and time to keep in milliseconds.
 */
export const PUT_SCRIPT = `
local known = redis.call('HGET', KEYS[1], 'version')
if known and tonumber(known) > tonumber(ARGV[1]) then return 0 end
local rest = math.floor(tonumber(ARGV[6]) - tonumber(ARGV[5]))
if rest < 1 then return 0 end
${READ_CLOCK}
local born = string.format('%.0f', now - tonumber(ARGV[5]))
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'bytes', ARGV[2], 'policy', ARGV[3], 'tags', ARGV[4], 'born', born)
redis.call('PEXPIRE', KEYS[1], rest)
return 1
`;

/** Invalidates tags. Key: the versions. Arguments: the most tags that are remembered, and the tags. */
export const INVALIDATE_SCRIPT = `
${READ_CURRENT}
local version = redis.call('ZINCRBY', KEYS[1], 1, '~')
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], version, ARGV[i]) end
local excess = redis.call('ZCARD', KEYS[1]) - 2 - tonumber(ARGV[1])
if excess > 0 then
  local forgotten = redis.call('ZPOPMIN', KEYS[1], excess + 1)
  redis.call('ZADD', KEYS[1], forgotten[#forgotten], '!')
end
return 1
`;
