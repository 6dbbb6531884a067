import { Effect } from "effect"
import { operate } from "../../client/call.ts"
import type { Transcript } from "../Transcript.ts"

const lists = [
  "/api/v1/agents",
  "/api/v1/agents/admission/blacklist",
  "/api/v1/checks",
  "/api/v1/events/query",
  "/api/v1/incidents",
  "/api/v1/incidents?sort=opened_at&direction=asc",
  "/api/v1/incidents?sort=resolved_at",
  "/api/v1/notifiers/outbox?sort=created_at",
  "/api/v1/system-summary",
]

/** All that operators can read, into the transcript. */
export const look = Effect.fnUntraced(function* (transcript: Transcript, when: string) {
  for (const path of lists) transcript.add(`${when}: ${path}`, yield* operate("GET", path))
})

/** The body of the summary. */
export const summary = Effect.map(operate("GET", "/api/v1/system-summary"), ({ body }) => body)
