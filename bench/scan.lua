-- wrk: each request scans (or verifies) the next ticket of the plan.
-- PLAN file, FIRST line, WAY card|token|verify|events, RETRY 1 with an Idempotency-Key, BASE path.
local way, retry, base = os.getenv("WAY"), os.getenv("RETRY") == "1", os.getenv("BASE")
local first, count = tonumber(os.getenv("FIRST")), tonumber(os.getenv("COUNT"))
local lines, at = {}, 0

function init()
  local n = 0
  for line in io.lines(os.getenv("PLAN")) do
    if n >= first + count then break end
    if n >= first then lines[#lines + 1] = line end
    n = n + 1
  end
end

function request()
  at = at + 1
  local line = lines[(at - 1) % #lines + 1]
  local key, event, number, token = line:match("^(%S+) (%S+) (%S+) (%S+)")
  local headers = { Authorization = "Bearer " .. key }
  if way == "events" then return wrk.format("GET", base .. "/events", headers) end
  if way == "verify" then return wrk.format("GET", base .. "/card/verify?token=" .. token, headers) end
  headers["Content-Type"] = "application/json"
  if retry then headers["Idempotency-Key"] = "bench-" .. (first + at) .. "-" .. number end
  local body = '{"event_id":"' .. event .. '","gate":"North 2","scanner_id":"scanner-7",'
  if way == "token" then body = body .. '"token":"' .. token .. '"}'
  else body = body .. '"card_number":"' .. number:gsub("_", " ") .. '"}' end
  return wrk.format("POST", base .. "/scan", headers, body)
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests": %d, "seconds": %.6f, "refused": %d, "broken": %d, "mean_us": %.1f, "p50_us": %d, "p99_us": %d}\n',
    summary.requests, summary.duration / 1e6, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency.mean, latency:percentile(50), latency:percentile(99)))
end
