/** How to use the v1 API, in CommonMark: what holds for all operations, said once. */
export const overview = `
Agents push heartbeats and results of checks; Tocsin decides what changed, opens and resolves incidents, and tells people. The v1 contract is
frozen. What operators can do beyond it is described at \`/ops/v1/openapi.json\`.

## Tokens

Both kinds are sent as \`Authorization: Bearer TOKEN\`, 1 to 512 visible ASCII characters.

- **Agent key**: made and kept by the agent itself, for \`/heartbeat\` and \`/events\` alone. The first heartbeat registers it; its events count once an
  operator has accepted it. The service keeps a hash and a fingerprint of it, nothing else.
- **Operator token**: one of \`SERVICE_AUTH_TOKEN\`, for everything else. One of \`SERVICE_READ_TOKEN\` may read; a change asked for with it is 403 \`forbidden\`.

## Requests and answers

- Bodies are JSON in UTF-8, at most 1 MiB (413 beyond it), without a Content-Encoding. Fields that the contract does not know are refused, unknown query
  parameters are ignored; a known one that is given twice, empty or malformed is 400.
- Timestamps are RFC 3339 in UTC: \`Z\` or \`+00:00\`, to the microsecond. Answers print three fraction digits, or six.
- Hostnames, label values, incident keys and cursors hold no control characters. Keys of labels that look like secrets are refused. \`output\` is limited in bytes
  of UTF-8, not in characters.
- Every answer has a header \`X-Request-Id\`: the request's own if it sent one of 1 to 128 letters, digits or \`. _ : -\`, otherwise a new one.
- Whatever answers GET answers HEAD. A path that there is not, or not with this method, is 404 \`not_found\`; the latter has a header \`Allow\`.
- What never became a whole HTTP request (too slow, too large a head, malformed, without one Host) is answered 400, 408 or 431.

## Lists

A page has \`items\` and cursors. Pass its \`next_cursor\` as \`cursor\` for the page after it, its \`prev_cursor\` with \`back=true\` for the page before; null
or absent says that there is none. A cursor is opaque, at most 512 characters, and good for the same list with the same filters, sort and direction;
\`limit\` (1 to 500, 100 unless given) may change between pages. It goes on working when the row that it points to is gone. Rows that exist, and keep their
place in the order, during a whole walk are seen exactly once.

## Rates

Heartbeats are limited by key, registrations of unknown keys by address, and the agents that wait for admission by their number. Beyond that the answer is
429 with \`Retry-After\`, in seconds. Events of accepted keys are not limited. An address that sends too many requests without a valid token gets 429 in place of
401; one that sends too much with keys that are not accepted gets 429 (403 for events) before its bodies are read. Valid tokens and accepted keys always pass.

## Errors

Every error has the same body: \`error.code\` for programs, \`error.message\` for people, \`error.request_id\` to find it in the log. 429 and 5xx are worth
another try, after \`Retry-After\` where it is given. Heartbeats, events and reads are safe to repeat; blocking an agent is not.
`.trim()
