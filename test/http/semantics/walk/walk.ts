import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { heartbeat } from "../../client/TestAgent.ts"
import { call } from "../../client/call.ts"
import { pageOf } from "../../client/itemsOf.ts"
import { Tocsin } from "../../service/Tocsin.ts"
import { Transcript } from "../Transcript.ts"
import { look, summary } from "./look.ts"
import { lifeOfOneAgent } from "./lifeOfOneAgent.ts"
import { sharedAndSilent } from "./sharedAndSilent.ts"
import { rotation } from "./rotation.ts"
import { endings } from "./endings.ts"

/**
 * The life of some agents from end to end, each step held against the decisions. Returns all that
 * operators could read on the way, so that it can be compared between storages.
 */
export const walk = Effect.gen(function* () {
  const { clock } = yield* Tocsin
  const transcript = new Transcript()
  const agent = yield* lifeOfOneAgent(transcript)
  const other = yield* sharedAndSilent(transcript, agent)
  const fresh = yield* rotation(transcript, agent, other)
  yield* endings(transcript, fresh)
  clock.advance("3 minutes")
  yield* heartbeat(fresh)
  assert.deepNestedInclude(yield* pageOf("/api/v1/agents"), {
    "items[0].status": "stale",
    "items[1].status": "alive",
  })
  assert.deepInclude(yield* summary, { agents_online: 1, agents_offline: 1 })
  clock.advance("6 minutes")
  assert.deepNestedInclude(yield* pageOf("/api/v1/agents"), {
    "items[0].status": "dead",
    "items[1].status": "dead",
  })
  yield* look(transcript, "silent")
  transcript.add("health", yield* call("GET", "/api/v1/health"))
  return transcript.lines
})
