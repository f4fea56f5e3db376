"""Counting a batch of events in Redis, in one script: nothing can come between an event and its mark.

Only commands of Redis 6.2; all keys are named beforehand.
"""

from __future__ import annotations

# KEYS: the public queries, the others, the names of documents; then visits by day, marks by day, the queries.
# ARGV: settings; the items' columns; a mark of 8 bytes for each item; all their records; visitors by day; the
# queries; documents and their names. All but marks and records are MessagePack. Of the columns, `slots` says
# whose an item is: a place among the visitors of all days, or the day below 0 where nobody knows; `places` is
# its query, `ends` where its records end.
# Returned as text, so that any client reads it: of each item 1 (counted), 0 (its mark stood there) or 2 (over
# the cap); how many queries are new, and how many pairs of query and document (where settings ask for it); of
# each query how often it was clicked for, and whether it is public; the queries to compact; the ids of those
# that had to make room.
COUNT = """
local s, items = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[2])
local slots, places, clicks, ends = unpack(items)
local marks, records, visitors, names = ARGV[3], ARGV[4], cmsgpack.unpack(ARGV[5]), cmsgpack.unpack(ARGV[6])
local call, sub, find, concat = redis.call, string.sub, string.find, table.concat
local DAYS, MARKS, QUERIES = 3, 3 + #visitors, 3 + 2 * #visitors

-- How many documents these records are the first clicks on.
local function pairs_in(known, added)
  local function clicked(data)
    local docs = {}
    for at = 1, #data, s.record_bytes do
      if sub(data, at + 12, at + 15) ~= '\\0\\0\\0\\0' then docs[sub(data, at, at + 7)] = true end
    end
    return docs
  end
  local before, new = clicked(known), 0
  for doc in pairs(clicked(added)) do
    if not before[doc] then new = new + 1 end
  end
  return new
end

-- What each visitor did on each day: 4 bytes for each item that was counted.
local visits, who, day = {}, {}, {}
for d, there in ipairs(visitors) do
  if #there > 0 then
    local found = call('HMGET', KEYS[DAYS + d], unpack(there))
    for j, visitor in ipairs(there) do
      local slot = #who + 1
      who[slot], day[slot], visits[slot] = visitor, d, found[j] or ''
    end
  end
end

local status, added, counted, anonymous, came = {}, {}, {}, {}, {}
local changed, marked, start = {}, {}, 1
for i, slot in ipairs(slots) do
  local new = 0
  if slot > 0 then
    local visit, mark = visits[slot], sub(marks, 8 * i - 7, 8 * i - 4)
    local at = find(visit, mark, 1, true)
    while at and at % 4 ~= 1 do at = find(visit, mark, at + 1, true) end
    if not at then
      if #visit < 4 * s.max_a_day then
        new, visits[slot], changed[slot] = 1, visit .. mark, true
      else
        new = 2
      end
    end
  else
    new = call('SADD', KEYS[MARKS - slot], sub(marks, 8 * i - 7, 8 * i))
    if new == 1 then marked[-slot] = true end
  end
  status[i] = new
  if new == 1 then
    local q, list = places[i], added[places[i]]
    if not list then
      list = {}
      added[q], counted[q], anonymous[q], came[q] = list, 0, 0, {}
    end
    list[#list + 1] = sub(records, start, ends[i])
    if clicks[i] > 0 then
      counted[q] = counted[q] + clicks[i]
      if slot > 0 then
        came[q][#came[q] + 1] = who[slot]
      else
        anonymous[q] = anonymous[q] + clicks[i]
      end
    end
  end
  start = ends[i] + 1
end

local fields = {}
for slot in pairs(changed) do
  local d = day[slot]
  local list = fields[d] or {}
  list[#list + 1], list[#list + 2], fields[d] = who[slot], visits[slot], list
end
for d, list in pairs(fields) do
  call('HSET', KEYS[DAYS + d], unpack(list))
  call('EXPIRE', KEYS[DAYS + d], s.marks_s)
end
for d in pairs(marked) do call('EXPIRE', KEYS[MARKS + d], s.marks_s) end
if s.marks_only then return {} end

local scores, few = call('ZMSCORE', KEYS[1], unpack(names)), call('HMGET', KEYS[2], unpack(names))
local totals, public, compact, new_queries, new_pairs = {}, {}, {}, 0, 0
local scored, kept, gone = {}, {}, {}
for q, name in ipairs(names) do
  local score, old, list = tonumber(scores[q] or nil), few[q], added[q]
  local total, open = score or 0, score ~= nil
  if old then total = struct.unpack('<I4', old) end
  if list then
    local clicked = counted[q] > 0
    total = total + counted[q]
    if clicked and score then
      scored[#scored + 1], scored[#scored + 2] = total, name
    elseif clicked then
      local strangers, seen = anonymous[q], ''
      if old then
        strangers, seen = strangers + struct.unpack('<I4', old, 5), sub(old, 9)
      else
        new_queries = new_queries + 1
      end
      for _, visitor in ipairs(came[q]) do
        local at = find(seen, visitor, 1, true)
        while at and at % 8 ~= 1 do at = find(seen, visitor, at + 1, true) end
        if not at then seen = seen .. visitor end
      end
      if strangers + #seen / 8 >= s.min_visitors then
        open = true
        scored[#scored + 1], scored[#scored + 2] = total, name
        if old then gone[#gone + 1] = name end
      else
        kept[#kept + 1], kept[#kept + 2] = name, struct.pack('<I4I4', total, strangers) .. seen
      end
    end
    local key, add = KEYS[QUERIES + q], concat(list)
    if s.count_pairs then new_pairs = new_pairs + pairs_in(call('GET', key) or '', add) end
    local after = call('APPEND', key, add) / s.record_bytes
    local before = after - #add / s.record_bytes
    if total == 0 then
      if before == 0 then call('EXPIRE', key, s.unclicked_s) end
    elseif before == 0 or call('TTL', key) < s.renew_s then
      call('EXPIRE', key, s.queries_s)
    end
    local limit = s.compact_from
    while limit <= before do limit = 2 * limit end
    if after >= limit then compact[#compact + 1] = q - 1 end
  end
  totals[q], public[q] = total, open and 1 or 0
end
local dropped = {}
if #scored > 0 then
  call('ZADD', KEYS[1], unpack(scored))
  call('EXPIRE', KEYS[1], s.queries_s)
  local over = call('ZCARD', KEYS[1]) - s.max_queries
  if over > 0 then
    local popped = call('ZPOPMIN', KEYS[1], math.min(over, 1000))
    for i = 1, #popped, 2 do dropped[#dropped + 1] = popped[i] end
  end
end
if #gone > 0 then call('HDEL', KEYS[2], unpack(gone)) end
if #kept > 0 then
  call('HSET', KEYS[2], unpack(kept))
  call('EXPIRE', KEYS[2], s.queries_s)
  local over = call('HLEN', KEYS[2]) - s.max_queries
  if over > 0 then
    local drawn = call('HRANDFIELD', KEYS[2], math.min(over, 1000))
    call('HDEL', KEYS[2], unpack(drawn))
    for _, name in ipairs(drawn) do dropped[#dropped + 1] = name end
  end
end
local docs = cmsgpack.unpack(ARGV[7])
if #docs > 0 then
  call('HSET', KEYS[3], unpack(docs))
  call('EXPIRE', KEYS[3], s.queries_s)
end
local function text(list) return concat(list, ' ') end
return {concat(status), new_queries, new_pairs, text(totals), concat(public), text(compact), text(dropped)}
"""
