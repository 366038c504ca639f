/**
 * The scripts by which processes share results in Redis. Each runs as one atomic step. The sorted set of versions has the version of each tag, and two
 * members more: `~` has the current version, `!` the lowest that is valid. When Redis loses the set, versions restart above all earlier ones. Another
 * sorted set has the tags that are held, with the time when that ends, in milliseconds.
 */

/**
 * Sets `current` and `lowest`, as strings. The set begins with the time in microseconds, which grows faster than versions do. It begins again where
 * another program has written something else under one of both keys: invalidations may be lost then, and so are all results.
 */
const READ_CURRENT = `
local current, lowest = redis.pcall('ZSCORE', KEYS[1], '~'), redis.pcall('ZSCORE', KEYS[1], '!')
local isHeldRead = type(redis.pcall('ZCARD', KEYS[2])) == 'number'
if not isHeldRead then redis.call('DEL', KEYS[2]) end
local isRead = isHeldRead and type(current) == 'string' and type(lowest) == 'string'
if not isRead or tonumber(current) >= 9007199254740992 or tonumber(lowest) > tonumber(current) then
  local time = redis.call('TIME')
  current = string.format('%.0f', time[1] * 1000000 + time[2])
  lowest = current
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], current, '~', current, '!')
end
`;

/** Sets `now`, in milliseconds. */
const READ_CLOCK = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Invalidates tags that are held no longer, and sets `current`. Those beyond 100 stay held until the next command. */
const END_HOLDS = `
local ended = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 100)
if #ended > 0 then
  current = redis.call('ZINCRBY', KEYS[1], 1, '~')
  for _, tag in ipairs(ended) do redis.call('ZADD', KEYS[1], current, tag) end
  redis.call('ZREM', KEYS[2], unpack(ended))
end
`;

/**
 * Finds results. Keys: the versions, the held tags, the results. Arguments: tags. Returns the current version, 1 if one of the tags is held, and six
 * values for each result: its bytes, policy, age, tags, the version of its oldest part and the digest. They are nil for one that is not kept or not
 * valid, also because it is not what {@link PUT_SCRIPT} writes: an error would be one of all results. A version above the current one is that of a
 * server whose clock was ahead.
 */
export const FIND_SCRIPT = `
${READ_CURRENT}
${READ_CLOCK}
${END_HOLDS}
local isHeld = false
for _, tag in ipairs(ARGV) do if redis.call('ZSCORE', KEYS[2], tag) then isHeld = true end end
local changes = {}
local function isOutdated(tags, version)
  for _, tag in ipairs(tags) do
    if changes[tag] == nil then changes[tag] = tonumber(redis.call('ZSCORE', KEYS[1], tag) or -1) end
    if changes[tag] > version then return true end
  end
  return false
end
local function readTags(text)
  local isRead, tags = pcall(cjson.decode, text)
  if not isRead or type(tags) ~= 'table' or (#tags == 0 and next(tags)) then return nil end
  for _, tag in ipairs(tags) do if type(tag) ~= 'string' then return nil end end
  return tags
end
local reply = { current, isHeld and 1 or 0 }
if isHeld then return reply end
for i = 3, #KEYS do
  local at = (i - 3) * 6 + 3
  for j = 0, 5 do reply[at + j] = false end
  local known = redis.pcall('HMGET', KEYS[i], 'version', 'tags', 'born', 'parts')
  if known.err then
    redis.call('DEL', KEYS[i])
  elseif known[1] then
    local version, tags, born = tonumber(known[1]), readTags(known[2]), tonumber(known[3] or '')
    local isRead = version and version <= tonumber(current) and tags and born
    if not isRead or version < tonumber(lowest) or isOutdated(tags, version) then
      redis.call('DEL', KEYS[i])
    else
      -- Earlier gateways kept results without it.
      local parts = math.min(tonumber(known[4] or '') or version, version)
      if parts >= tonumber(lowest) and not isOutdated(ARGV, parts) then
        local kept = redis.call('HMGET', KEYS[i], 'bytes', 'policy', 'digest')
        reply[at], reply[at + 1], reply[at + 2], reply[at + 3] = kept[1], kept[2], string.format('%.0f', now - born), known[2]
        reply[at + 4], reply[at + 5] = string.format('%.0f', parts), kept[3]
      end
    end
  end
end
return reply
`;

/**
 * Keeps a result, unless a newer one is kept. Key: the result. Arguments: version, bytes, policy, tags as a JSON list, age and time to keep in
 * milliseconds, the version of its oldest part, and the digest.
 */
export const PUT_SCRIPT = `
local known = redis.pcall('HGET', KEYS[1], 'version')
if type(known) == 'table' then redis.call('DEL', KEYS[1]) end
if type(known) == 'string' and (tonumber(known) or 0) > tonumber(ARGV[1]) then return 0 end
local rest = math.floor(tonumber(ARGV[6]) - tonumber(ARGV[5]))
if rest < 1 then return 0 end
${READ_CLOCK}
local born = string.format('%.0f', now - tonumber(ARGV[5]))
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'bytes', ARGV[2], 'policy', ARGV[3], 'tags', ARGV[4], 'born', born,
  'parts', ARGV[7], 'digest', ARGV[8])
redis.call('PEXPIRE', KEYS[1], rest)
return 1
`;

/**
 * Invalidates tags. Keys: the versions, the held tags. Arguments: the most tags that are remembered, the milliseconds for which tags are held, how many
 * are, and the tags, beginning with these. No more tags are held than are remembered: those that would end first end at once.
 */
export const INVALIDATE_SCRIPT = `
${READ_CURRENT}
${READ_CLOCK}
local version = redis.call('ZINCRBY', KEYS[1], 1, '~')
for i = 4, #ARGV do redis.call('ZADD', KEYS[1], version, ARGV[i]) end
for i = 4, 3 + tonumber(ARGV[3]) do redis.call('ZADD', KEYS[2], string.format('%.0f', now + tonumber(ARGV[2])), ARGV[i]) end
local beyond = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[1])
if beyond > 0 then
  local ended = redis.call('ZPOPMIN', KEYS[2], beyond)
  for i = 1, #ended, 2 do redis.call('ZADD', KEYS[1], version, ended[i]) end
end
local excess = redis.call('ZCARD', KEYS[1]) - 2 - tonumber(ARGV[1])
if excess > 0 then
  local forgotten = redis.call('ZPOPMIN', KEYS[1], excess + 1)
  redis.call('ZADD', KEYS[1], forgotten[#forgotten], '!')
end
return 1
`;
