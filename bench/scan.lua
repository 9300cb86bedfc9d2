-- wrk: each request scans (or verifies) the next ticket of the plan.
-- PLAN file, FIRST line, COUNT of lines, WAY card|token|verify|events|event|unchanged, IDEMPOTENCY_KEY 1 sends one, BASE path,
-- TAG of the events, PAUSE_MS between an answer and the next call of its connection.
-- All requests are built before the first is sent, so that the client uses as little CPU as possible.
local way, base = os.getenv("WAY"), os.getenv("BASE")
local has_idempotency_key = os.getenv("IDEMPOTENCY_KEY") == "1"
local first, count = tonumber(os.getenv("FIRST")), tonumber(os.getenv("COUNT"))
local requests, at = {}, 0

local function built(line, n)
  local key, event, number, token = line:match("^(%S+) (%S+) (%S+) (%S+)")
  local headers = { Authorization = "Bearer " .. key }
  if way == "unchanged" then headers["If-None-Match"] = os.getenv("TAG") end
  if way == "event" then return wrk.format("GET", base .. "/events/" .. event, headers) end
  if way == "events" or way == "unchanged" then return wrk.format("GET", base .. "/events", headers) end
  if way == "verify" then return wrk.format("GET", base .. "/card/verify?token=" .. token, headers) end
  headers["Content-Type"] = "application/json"
  if has_idempotency_key then headers["Idempotency-Key"] = "bench-" .. n .. "-" .. number end
  local body = '{"event_id":"' .. event .. '","gate":"North 2","scanner_id":"scanner-7",'
  if way == "token" then body = body .. '"token":"' .. token .. '"}'
  else body = body .. '"card_number":"' .. number:gsub("_", " ") .. '"}' end
  return wrk.format("POST", base .. "/scan", headers, body)
end

function init()
  local n = 0
  for line in io.lines(os.getenv("PLAN")) do
    if n >= first + count then break end
    if n >= first then requests[#requests + 1] = built(line, n) end
    n = n + 1
  end
end

-- A ticket can be activated once. When all are used, this request is refused, so that the run counts as failed.
local over = wrk.format("GET", base .. "/out-of-tickets")

function request()
  at = at + 1
  if at > #requests and way ~= "card" and way ~= "token" then at = 1 end
  return requests[at] or over
end

local pause = tonumber(os.getenv("PAUSE_MS") or 0)
if pause > 0 then
  function delay() return pause end
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests": %d, "seconds": %.6f, "refused": %d, "broken": %d, "mean_us": %.1f, "p50_us": %d, "p99_us": %d}\n',
    summary.requests, summary.duration / 1e6, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency.mean, latency:percentile(50), latency:percentile(99)))
end
