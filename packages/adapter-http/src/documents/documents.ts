import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { openApiDocument } from "./openApiDocument.ts"
import type { JsonObject } from "./errorResponses.ts"
import { opsTags } from "../features.ts"
import { v1Tags } from "./v1Operations.ts"

/** How to use the v1 API, in CommonMark. */
const overview = `
Agents push heartbeats and check results. Tocsin decides what changed, opens and resolves incidents,
and notifies. The v1 contract is frozen. \`/ops/v1/openapi.json\` describes what operators can do
beyond it.

## Tokens

Send a token as \`Authorization: Bearer TOKEN\`: 1 to 512 visible ASCII characters.

- **Agent key**: generated and kept by the agent, for \`/heartbeat\` and \`/events\` only. The first
  heartbeat registers it. Its events count once an operator has accepted it. Tocsin stores a hash and
  a fingerprint of it.
- **Operator token**: one of \`SERVICE_AUTH_TOKEN\`, for everything else. One of
  \`SERVICE_READ_TOKEN\` only reads; a change with it is 403 \`forbidden\`.

## Requests and answers

- A body is JSON in UTF-8 of at most 1 MiB, without a Content-Encoding. A larger one is 413. Unknown
  fields are refused. Unknown query parameters are ignored; a known one that is repeated, empty or
  malformed is 400.
- Timestamps are RFC 3339 in UTC, \`Z\` or \`+00:00\`, to the microsecond. Answers have three fraction
  digits, or six.
- Hostnames, label values, incident keys and cursors contain no control characters. Label keys that
  look like secrets are refused. \`output\` is limited in bytes of UTF-8, not in characters.
- Every answer has a header \`X-Request-Id\`: that of the request if it has 1 to 128 letters, digits or
  \`. _ : -\`, otherwise a new one.
- HEAD works wherever GET does. An unknown path is 404 \`not_found\`. So is an unknown method of a known
  path; its answer has a header \`Allow\`.
- A request that never becomes complete HTTP (too slow, head too large, malformed, not exactly one
  Host) is answered 400, 408 or 431.

## Lists

A page has \`items\` and cursors. Pass its \`next_cursor\` as \`cursor\` for the next page, or its
\`prev_cursor\` with \`back=true\` for the previous one. At the ends they are null or absent. A cursor is
opaque, has at most 512 characters, and belongs to one list with its filters, sort and direction.
\`limit\` (1 to 500, by default 100) may change between pages. A cursor stays valid when its row is
deleted. A walk returns every row that exists throughout and keeps its place exactly once.

## Rates

Heartbeats are limited by key, registrations of unknown keys by address, and pending agents by their
number. Beyond a limit the answer is 429 with \`Retry-After\` in seconds. Events of accepted keys are not
limited. An address that sends too many requests without a valid token gets 401 as always, and loses
its connection each time. One that sends too much with keys that are not accepted gets 429, or 403 for events, before Tocsin reads its
bodies. Valid tokens and accepted keys always pass.

## Errors

Every error has the same body: \`error.code\` for programs, \`error.message\` for people, and
\`error.request_id\` to find it in the log. Retry 429 and 5xx, after \`Retry-After\` if it is given.
Heartbeats, events and reads are safe to repeat. Blocking an agent is not.
`.trim()

const opsOverview = `
What operators do beyond the frozen v1 contract (\`/openapi.json\`): dead letters, notifier tests,
repairs of checks, explanations. It may grow, but existing parts keep their meaning. Tokens, request
ids, timestamps and errors are those of v1: a token of \`SERVICE_AUTH_TOKEN\` does everything, one of
\`SERVICE_READ_TOKEN\` reads, and one of a named operator does what its role includes.
`.trim()

/** The document of the frozen v1 contract: /openapi.json. */
export const v1Document = (): JsonObject =>
  openApiDocument(TocsinApi, {
    description: overview,
    server: ".",
    hasIdempotencyKeys: false,
    tags: v1Tags,
    responses: {},
    messages: {},
  })

/** The document of what operators do beyond it: /ops/v1/openapi.json. */
export const opsDocument = (): JsonObject =>
  openApiDocument(OpsApi, {
    description: opsOverview,
    server: "../..",
    hasIdempotencyKeys: true,
    tags: opsTags,
    responses: {
      NotFound: "No object has that name or id.",
      Conflict: "The current state does not allow it.",
    },
    messages: {
      rate_limited: "this process serves 100 streams already; poll instead, and try again in 15 s",
      conflict:
        "this outbox item has not failed, so it cannot be replayed; list failed items with GET /api/v1/notifiers/outbox?state=failed",
    },
  })
