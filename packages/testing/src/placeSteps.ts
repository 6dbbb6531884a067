import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { recordProbes } from "@tocsin/core/features/watches/recordProbes"
import { Duration, Effect } from "effect"
import type { Replica } from "./Replica.ts"
import { eventOf, keyOf, send } from "./samples.ts"

export const WATCHES = AgentId.make("watches")
export const NAME = CheckId.make("shop")
export const [BERLIN, OSLO] = ["berlin", "oslo"].map((name) => AgentId.make(name)) as [AgentId, AgentId]
export const http = { url: "https://shop.example/" }

export const ask = ({ watches }: Replica, agent_id: AgentId, withValues = false) =>
  watches.askedBy(keyOf(agent_id), { agent_id, withValues })

let event = 0
/** A result of an agent about a watch, observed so many seconds ago. */
export const report = (
  replica: Replica,
  agent: string,
  status: CheckStatus,
  { ago = 0, name = NAME }: { readonly ago?: number; readonly name?: string } = {},
) =>
  Effect.flatMap(Instant.now, (now) => {
    event += 1
    const output = `HTTP ${status.toUpperCase()} - from ${agent} | time=0.1s`
    const observed_at = Instant.minus(now, Duration.seconds(ago))
    const sent = eventOf(event, { check_id: `watch:${name}`, status, observed_at, output })
    return Effect.as(send(replica, agent, [sent]), { agent, sent })
  })

/** A probe of the service. */
export const probe = (replica: Replica, status: CheckStatus) =>
  Effect.flatMap(replica.watches.get(NAME), ({ next_probe_at: due }) => {
    const result = { name: NAME, due, status, output: `HTTP ${status.toUpperCase()} - x`, duration_ms: 3 }
    const { commits, incidents, watchAgent: agent } = replica
    return Effect.flatMap(Instant.now, (at) =>
      commits.transact(recordProbes({ agent, incidents, results: [{ ...result, at }] })),
    )
  })

export const decided = (replica: Replica) =>
  Effect.map(replica.storage.check(WATCHES, NAME), (check) => check?.status)
