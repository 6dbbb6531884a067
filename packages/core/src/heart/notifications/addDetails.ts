import { Duration, Effect, Exit, Struct } from "effect"
import type { MemberCheck } from "../../kernel/model/LastResult.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import type { ClaimedItem } from "./claimOutbox.ts"
import { titleOf } from "../model/CheckLabelRecord.ts"
import { decideDetails } from "./messageDetails.ts"

/** A message goes out without details rather than later. */
const READ_WITHIN = Duration.seconds(2)

const READ_TOGETHER = 8

/** The check whose details a message has; a resolved has none, nor has a silent agent. */
const checkOf = ({ worst }: ClaimedItem): MemberCheck | undefined => {
  if (worst?.agent === undefined || worst.member.check_id.startsWith("@")) return undefined
  const member = Struct.pick(worst.member, ["incident_id", "agent_id", "check_id", "change_seq"])
  return { ...member, registration_id: worst.agent.registration_id }
}

/** Gives claimed notifications their details, by one read for all of them (docs/rules.md#details). */
export const addDetails = Effect.fnUntraced(function* (items: ReadonlyArray<ClaimedItem>) {
  const members = items.flatMap((item) => checkOf(item) ?? [])
  if (members.length === 0) return items
  const storage = yield* Storage
  const reading = Effect.interruptible(Effect.suspend(() => storage.lastResults(members)))
  const read = yield* Effect.exit(Effect.timeout(reading, READ_WITHIN))
  if (Exit.isFailure(read)) {
    // Interrupted: the service stops.
    if (!Exit.hasInterrupts(read))
      yield* Effect.logWarning("cannot read the details of messages; sending them without", read.cause)
    return items
  }
  const found = new Map(read.value.map((result) => [result.incident_id, result]))
  return items.map((item): ClaimedItem => {
    const { notification, worst } = item
    const result = found.get(notification.incident.id)
    if (worst === undefined || result === undefined) return item
    return {
      ...item,
      notification: { ...notification, details: decideDetails(worst, result, notification.runbook) },
    }
  })
})

/** Gives claimed notifications the titles of the checks that opened their incidents (docs/rules.md#titles). */
export const addTitles = Effect.fnUntraced(function* (items: ReadonlyArray<ClaimedItem>) {
  const opened = items
    .map(({ notification: { incident } }) => incident)
    .filter(({ opener_check_id }) => !opener_check_id.startsWith("@"))
  if (opened.length === 0) return items
  const storage = yield* Storage
  const reading = Effect.gen(function* () {
    const ids = Array.from(new Set(opened.map(({ opener_agent_id }) => opener_agent_id)))
    const agents = yield* Effect.forEach(ids, storage.agent, { concurrency: READ_TOGETHER })
    const registrations = new Map(
      agents.flatMap((agent) => (agent === undefined ? [] : [[agent.agent_id, agent.registration_id]])),
    )
    const refs = opened.flatMap(({ opener_agent_id: agent_id, opener_check_id: check_id }) => {
      const registration_id = registrations.get(agent_id)
      return registration_id === undefined ? [] : [{ agent_id, check_id, registration_id }]
    })
    return yield* storage.rows("check_label", refs)
  })
  const read = yield* Effect.exit(Effect.timeout(Effect.interruptible(reading), READ_WITHIN))
  if (Exit.isFailure(read)) return items
  const titles = new Map(
    read.value.map(({ agent_id, check_id, labels }) => [`${agent_id}/${check_id}`, titleOf(labels)]),
  )
  return items.map((item): ClaimedItem => {
    const { opener_agent_id, opener_check_id } = item.notification.incident
    const title = titles.get(`${opener_agent_id}/${opener_check_id}`)
    return title === undefined ? item : { ...item, notification: { ...item.notification, title } }
  })
})
