/** The scripts by which processes share sliding windows in Redis. Each runs as one atomic step, by the clock of the Redis server. */

/** Units that are taken within this time share one entry of a shared window, so that it has at most 121 entries. */
const RESOLUTION_MS = 500;

/**
 * Sets `stored` to the entries of the window. What another program has written under the key counts as an empty window, which the next units replace:
 * an error would be one of Redis, which no request would use for a time.
 */
const READ_WINDOW = `
local packed = redis.pcall('GET', KEYS[1])
local stored = {}
if type(packed) == 'string' then
  local isRead, value = pcall(cmsgpack.unpack, packed)
  if isRead and type(value) == 'table' then stored = value end
  for i = 1, #stored do if type(stored[i]) ~= 'number' then stored = {} break end end
  if #stored % 2 == 1 then stored = {} end
end
`;

/**
 * Takes units. Key: the window. Arguments: limit, units, length of the window in milliseconds. Returns whether they were taken (1 or 0),
 * the units that are left, milliseconds until the oldest units leave the window, milliseconds until the same units could be taken, and
 * the slot of the entry. The value is a list of times and units in turn, as MessagePack; it expires with its last entry.
 */
export const TAKE_SCRIPT = `
local limit, units, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slot = math.floor(now / ${String(RESOLUTION_MS)})
${READ_WINDOW}
local entries, total = {}, 0
for i = 1, #stored, 2 do
  if stored[i] + window > now and stored[i] < now + window and stored[i + 1] > 0 then
    entries[#entries + 1] = stored[i]
    entries[#entries + 1] = stored[i + 1]
    total = total + stored[i + 1]
  end
end
if total + units > limit then
  local free, retry = limit - total, window
  for i = 1, #entries, 2 do
    free = free + entries[i + 1]
    if free >= units then
      retry = entries[i] + window - now
      break
    end
  end
  return { 0, math.max(0, limit - total), retry, retry, slot }
end
if units > 0 then
  local last = #entries - 1
  if last > 0 and math.floor(entries[last] / ${String(RESOLUTION_MS)}) == slot then
    entries[last] = now
    entries[last + 1] = entries[last + 1] + units
  else
    entries[#entries + 1] = now
    entries[#entries + 1] = units
  end
  redis.call('SET', KEYS[1], cmsgpack.pack(entries), 'PX', window)
end
return { 1, limit - total - units, #entries > 0 and entries[1] + window - now or 0, 0, slot }
`;

/** Returns units that were taken. Key: the window. Arguments: units, slot. */
export const REFUND_SCRIPT = `
${READ_WINDOW}
local entries = stored
for i = #entries - 1, 1, -2 do
  if math.floor(entries[i] / ${String(RESOLUTION_MS)}) == tonumber(ARGV[2]) then
    entries[i + 1] = math.max(0, entries[i + 1] - tonumber(ARGV[1]))
    redis.call('SET', KEYS[1], cmsgpack.pack(entries), 'KEEPTTL')
    return 1
  end
end
return 0
`;
