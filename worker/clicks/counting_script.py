"""Counting a batch of events in Redis, in one script: nothing can come between an event and its mark.

Only commands of Redis 6.2; all keys are named beforehand.
"""

from __future__ import annotations

# KEYS: the public queries, the others; then visits by day, marks by day, records by query.
# ARGV, all but marks, records and details MessagePack:
#  1 settings
#  2 columns: of each visitor's day its last item (none where each has one), of each query its clicks and
#    where its records end, of each day how many items have no visitor
#  3 a mark for each item, of 4 bytes, or of 8 where it has no visitor
#  4 the records, query by query
#  5 visitors by day
#  6 to 11 details, integers of 4 bytes: of each item its place among those sorted by query; of each of these
#    its query, its visitor's day (0 for strangers), its clicks, and where its records end; of each query its
#    last one
# Items are in the order of days, visitors and coming, those without a visitor last.
# What is kept of a public query is how often it was clicked for and, after a space, the day on which its
# records were last given their whole lifetime.
# Returned as text, so that any client reads it: the items that were counted before, and those over the cap;
# how many queries are new, and how many pairs of query and document (where settings ask for it); of each
# query how often it was clicked for, or - unless it is public; the queries to compact; the ids of those that
# had to make room.
COUNT = """
local unpacked = cmsgpack.unpack
local s, visitors = unpacked(ARGV[1]), unpacked(ARGV[5])
local columns = unpacked(ARGV[2])
local last, clicks, ends, strangers = columns[1], columns[2], columns[3], columns[4]
local marks, records = ARGV[3], ARGV[4]
local call, sub, find, concat, unpack = redis.call, string.sub, string.find, table.concat, unpack
local DAYS, MARKS, QUERIES = 2, 2 + #visitors, 2 + 2 * #visitors

-- Whether a string of marks of `size` bytes each has this one.
local function has(list, mark, size)
  local at = find(list, mark, 1, true)
  while at and at % size ~= 1 do at = find(list, mark, at + 1, true) end
  return at
end

-- A number of the details.
local function detail(column, i)
  return (struct.unpack('<I4', ARGV[5 + column], 4 * i - 3))
end
local PLACE, QUERY, SLOT, CLICKS, END, STOP = 1, 2, 3, 4, 5, 6

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

-- What each visitor did on each day: 4 bytes for each item that was counted. What of the batch doesn't count.
local again, over, out = {}, {}, {}
local slot, first, most = 0, 1, 4 * s.max_a_day
for d = 1, #visitors do
  local there, fields, n = visitors[d], {}, 0
  if #there > 0 then
    local found = call('HMGET', KEYS[DAYS + d], unpack(there))
    for j = 1, #there do
      slot = slot + 1
      local visit, stop = found[j], last[slot] or slot
      if not visit and first == stop then
        fields[n + 1], fields[n + 2], n = there[j], sub(marks, 4 * first - 3, 4 * first), n + 2
      else
        visit = visit or ''
        local size = #visit
        for i = first, stop do
          local mark = sub(marks, 4 * i - 3, 4 * i)
          if has(visit, mark, 4) then
            again[#again + 1], out[i] = i, true
          elseif #visit >= most then
            over[#over + 1], out[i] = i, true
          else
            visit = visit .. mark
          end
        end
        if #visit > size then fields[n + 1], fields[n + 2], n = there[j], visit, n + 2 end
      end
      first = stop + 1
    end
    if n > 0 then
      call('HSET', KEYS[DAYS + d], unpack(fields))
      call('EXPIRE', KEYS[DAYS + d], s.marks_s)
    end
  end
end

-- Those without a visitor, each by its own mark.
local before = 4 * (first - 1)
for d = 1, #strangers do
  if strangers[d] > 0 then
    local there, new, met = {}, {}, {}
    for j = 1, strangers[d] do there[j] = sub(marks, before + 8 * j - 7, before + 8 * j) end
    local found = call('SMISMEMBER', KEYS[MARKS + d], unpack(there))
    for j = 1, #there do
      if found[j] == 1 or met[there[j]] then
        again[#again + 1], out[first] = first, true
      else
        new[#new + 1], met[there[j]] = there[j], true
      end
      first = first + 1
    end
    if #new > 0 then
      call('SADD', KEYS[MARKS + d], unpack(new))
      call('EXPIRE', KEYS[MARKS + d], s.marks_s)
    end
    before = before + 8 * #there
  end
end
if s.marks_only then return {} end

-- Queries of which something doesn't count, and which of its items that is.
local partly, missing = {}, {}
for i in pairs(out) do
  local k = detail(PLACE, i)
  missing[k], partly[detail(QUERY, k)] = true, true
end
local function items_of(q)
  return q == 1 and 1 or detail(STOP, q - 1) + 1, detail(STOP, q)
end

-- What is kept of a query that isn't public: its clicks, those of strangers, marks of the other visitors.
-- nil once it is.
local who = nil
local function private(old, total, q)
  local strange, seen = 0, ''
  if not who then
    who = {}
    for d = 1, #visitors do
      for j = 1, #visitors[d] do who[#who + 1] = visitors[d][j] end
    end
  end
  if old then strange, seen = struct.unpack('<I4', old, 5), sub(old, 9) end
  local from, to = items_of(q)
  for k = from, to do
    local n = detail(CLICKS, k)
    if not missing[k] and n > 0 then
      local visitor = who[detail(SLOT, k)]
      if not visitor then
        strange = strange + n
      elseif not has(seen, visitor, 8) then
        seen = seen .. visitor
      end
    end
  end
  if strange + #seen / 8 >= s.min_visitors then return nil end
  return struct.pack('<I4I4', total, strange) .. seen
end

local names, few, lacking = {}, {}, {}
for q = 1, #clicks do names[q] = sub(KEYS[QUERIES + q], s.prefix + 1) end
local open = call('HMGET', KEYS[1], unpack(names))
for q = 1, #names do
  if not open[q] then lacking[#lacking + 1] = names[q] end
end
if #lacking > 0 then
  local found = call('HMGET', KEYS[2], unpack(lacking))
  for j = 1, #lacking do few[lacking[j]] = found[j] or nil end
end

-- What is to be kept of a public query for what is: its clicks with n more, as text, all that is kept, and
-- whether its records got their lifetime today. Most queries have few clicks, so most of these come again.
local steps = {}
local function step(value, n)
  local of = steps[n] or {}
  local found = of[value]
  if not found then
    local total = tonumber(string.match(value, '^%d+'))
    local text = total and string.format('%d', total + n)
    found = {text, text and text .. s.today, sub(value, -#s.today) == s.today}
    of[value], steps[n] = found, of
  end
  return found[1], found[2], found[3]
end

local totals, compact, new_queries, new_pairs = {}, {}, 0, 0
local public, others, opened, size, read = {}, {}, {}, 0, 0
for q = 1, #names do
  local name, n, add = names[q], clicks[q], nil
  if partly[q] then
    local from, to = items_of(q)
    add, n = '', 0
    for k = from, to do
      local stop = detail(END, k)
      if not missing[k] then add, n = add .. sub(records, read + 1, stop), n + detail(CLICKS, k) end
      read = stop
    end
  else
    add, read = sub(records, read + 1, ends[q]), ends[q]
  end
  local total, value, renewed = nil, open[q], false
  if value then total, value, renewed = step(value, n) end
  if add ~= '' then
    local clicked = total
    if not total then
      local old = few[name]
      local count = (old and struct.unpack('<I4', old) or 0) + n
      clicked = count > 0
      if n > 0 then
        local kept = private(old, count, q)
        if not old then new_queries = new_queries + 1 end
        if kept then
          others[#others + 1], others[#others + 2] = name, kept
        else
          total, value = string.format('%d', count), string.format('%d', count) .. s.today
          if old then opened[#opened + 1] = name end
        end
      end
    end
    if total and n > 0 then public[size + 1], public[size + 2], size = name, value, size + 2 end
    local key = KEYS[QUERIES + q]
    if s.count_pairs then new_pairs = new_pairs + pairs_in(call('GET', key) or '', add) end
    local after = call('APPEND', key, add)
    local before = after - #add
    if before == 0 or (clicked and not renewed) then
      call('EXPIRE', key, clicked and s.queries_s or s.unclicked_s)
    end
    if after >= s.compact_from then
      local limit = s.compact_from
      while limit <= before do limit = 2 * limit end
      if after >= limit then compact[#compact + 1] = q - 1 end
    end
  end
  totals[q] = total or '-'
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
    local total = key == KEYS[1] and tonumber(string.match(value, '^%d+')) or struct.unpack('<I4', value)
    rarest[#rarest + 1] = {drawn[j], total}
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
local function text(list) return concat(list, ' ') end
return {text(again), text(over), new_queries, new_pairs, text(totals), text(compact), text(dropped)}
"""
