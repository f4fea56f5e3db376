"""Counting a batch of events in Redis, in one script: nothing can come between an event and its mark.

Only commands of Redis 6.2; all keys are named beforehand.
"""

from __future__ import annotations

# KEYS: the public queries, the others, the names of documents; then visits by day, marks by day, records by
# query.
# ARGV: settings; columns; a mark of 8 bytes for each item; the records, query by query; visitors by day; the
# queries; hashes of documents; their names. All but marks and records are MessagePack. The columns: of each
# item in the order of coming, whose it is (a place among the visitors of all days, or the day below 0 where
# nobody knows) and its query; of each query, where its items end among those sorted by query; of each of
# these, its place in the order of coming, its clicks, and where its records end.
# Returned as text, so that any client reads it: of each item 1 (counted), 0 (its mark stood there) or 2 (over
# the cap); how many queries are new, and how many pairs of query and document (where settings ask for it); of
# each query how often it was clicked for, or - unless it is public; the queries to compact; the ids of those
# that had to make room.
COUNT = """
local s, columns = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[2])
local slots, places, stops, order, clicks, ends = unpack(columns)
local marks, records, visitors, names = ARGV[3], ARGV[4], cmsgpack.unpack(ARGV[5]), cmsgpack.unpack(ARGV[6])
local call, sub, find, concat, unpack = redis.call, string.sub, string.find, table.concat, unpack
local DAYS, MARKS, QUERIES = 3, 3 + #visitors, 3 + 2 * #visitors

-- Whether a string of marks of `size` bytes each has this one.
local function has(list, mark, size)
  local at = find(list, mark, 1, true)
  while at and at % size ~= 1 do at = find(list, mark, at + 1, true) end
  return at
end

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
local who, visits = {}, {}
for d = 1, #visitors do
  local there = visitors[d]
  if #there > 0 then
    local found, size = call('HMGET', KEYS[DAYS + d], unpack(there)), #who
    for j = 1, #there do who[size + j], visits[size + j] = there[j], found[j] or '' end
  end
end

-- What of the batch counts. Queries of which something doesn't are `partly` counted.
local status, changed, marked, partly, most = {}, {}, {}, {}, 4 * s.max_a_day
for i = 1, #slots do
  local slot, new = slots[i], 1
  if slot > 0 then
    local visit, mark = visits[slot], sub(marks, 8 * i - 7, 8 * i - 4)
    if visit ~= '' and has(visit, mark, 4) then
      new = 0
    elseif #visit >= most then
      new = 2
    else
      visits[slot], changed[slot] = visit .. mark, true
    end
  else
    new = call('SADD', KEYS[MARKS - slot], sub(marks, 8 * i - 7, 8 * i))
    marked[-slot] = true
  end
  status[i] = new
  if new ~= 1 then partly[places[i]] = true end
end
local slot = 0
for d = 1, #visitors do
  local fields, n = {}, 0
  for _ = 1, #visitors[d] do
    slot = slot + 1
    if changed[slot] then
      fields[n + 1], fields[n + 2], n = who[slot], visits[slot], n + 2
    end
  end
  if n > 0 then
    call('HSET', KEYS[DAYS + d], unpack(fields))
    call('EXPIRE', KEYS[DAYS + d], s.marks_s)
  end
end
for d in pairs(marked) do call('EXPIRE', KEYS[MARKS + d], s.marks_s) end
if s.marks_only then return {} end

-- What is kept of a query that isn't public: its clicks, those of strangers, marks of the other visitors.
-- nil once it is.
local function private(old, total, from, to)
  local strangers, seen = 0, ''
  if old then strangers, seen = struct.unpack('<I4', old, 5), sub(old, 9) end
  for k = from, to do
    local i = order[k]
    if status[i] == 1 and clicks[k] > 0 then
      if slots[i] < 0 then
        strangers = strangers + clicks[k]
      elseif not has(seen, who[slots[i]], 8) then
        seen = seen .. who[slots[i]]
      end
    end
  end
  if strangers + #seen / 8 >= s.min_visitors then return nil end
  return struct.pack('<I4I4', total, strangers) .. seen
end

local open, few, lacking = call('HMGET', KEYS[1], unpack(names)), {}, {}
for q = 1, #names do
  if not open[q] then lacking[#lacking + 1] = names[q] end
end
if #lacking > 0 then
  local found = call('HMGET', KEYS[2], unpack(lacking))
  for j = 1, #lacking do few[lacking[j]] = found[j] or nil end
end
local totals, compact, new_queries, new_pairs = {}, {}, 0, 0
local public, others, opened = {}, {}, {}
local from, start = 1, 1
for q = 1, #names do
  local name, to, add, n = names[q], stops[q], '', 0
  local score, old = tonumber(open[q] or nil), few[names[q]]
  local total = score or old and struct.unpack('<I4', old) or 0
  if partly[q] then
    for k = from, to do
      if status[order[k]] == 1 then
        add, n = add .. sub(records, start, ends[k]), n + clicks[k]
      end
      start = ends[k] + 1
    end
  else
    for k = from, to do n = n + clicks[k] end
    add, start = sub(records, start, ends[to]), ends[to] + 1
  end
  if add ~= '' then
    if n > 0 then
      total = total + n
      local kept = nil
      if not score then
        kept = private(old, total, from, to)
        if not old then new_queries = new_queries + 1 end
        if old and not kept then opened[#opened + 1] = name end
      end
      local list = kept and others or public
      local size = #list
      list[size + 1], list[size + 2] = name, kept or string.format('%d', total)
      if not kept then score = total end
    end
    local key = KEYS[QUERIES + q]
    if s.count_pairs then new_pairs = new_pairs + pairs_in(call('GET', key) or '', add) end
    local after = call('APPEND', key, add)
    local before = after - #add
    if total == 0 then
      if before == 0 then call('EXPIRE', key, s.unclicked_s) end
    elseif before == 0 or call('TTL', key) < s.renew_s then
      call('EXPIRE', key, s.queries_s)
    end
    if after >= s.compact_from then
      local limit = s.compact_from
      while limit <= before do limit = 2 * limit end
      if after >= limit then compact[#compact + 1] = q - 1 end
    end
  end
  totals[q], from = score and string.format('%d', total) or '-', to + 1
end

-- Write what is known of queries. Of too many, the least clicked of some that are drawn have to go: to know
-- the least clicked of all would take a sorted set, and a quarter of the time that all of this takes.
local dropped = {}
local function write(key, values)
  if #values == 0 then return end
  call('HSET', key, unpack(values))
  call('EXPIRE', key, s.queries_s)
  local over = math.min(call('HLEN', key) - s.max_queries, 500)
  if over <= 0 then return end
  local drawn, rarest = call('HRANDFIELD', key, 5 * over, 'WITHVALUES'), {}
  for j = 1, #drawn, 2 do
    local value = drawn[j + 1]
    rarest[#rarest + 1] = {drawn[j], key == KEYS[1] and tonumber(value) or struct.unpack('<I4', value)}
  end
  table.sort(rarest, function(a, b) return a[2] < b[2] end)
  for j = 1, over do
    call('HDEL', key, rarest[j][1])
    dropped[#dropped + 1] = rarest[j][1]
  end
end
if #opened > 0 then call('HDEL', KEYS[2], unpack(opened)) end
write(KEYS[1], public)
write(KEYS[2], others)
local docs = cmsgpack.unpack(ARGV[7])
if #docs > 0 then
  local found, missing = call('HMGET', KEYS[3], unpack(docs)), {}
  local ids = cmsgpack.unpack(ARGV[8])
  for j = 1, #docs do
    if not found[j] then
      missing[#missing + 1] = docs[j]
      missing[#missing + 1] = ids[j]
    end
  end
  if #missing > 0 then call('HSET', KEYS[3], unpack(missing)) end
  call('EXPIRE', KEYS[3], s.queries_s)
end
local function text(list) return concat(list, ' ') end
return {concat(status), new_queries, new_pairs, text(totals), text(compact), text(dropped)}
"""
