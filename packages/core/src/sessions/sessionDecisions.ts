import type { SessionId } from "@tocsin/contract/Sessions"
import * as Instant from "@tocsin/contract/Instant"
import type { Duration } from "effect"
import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import { isOver, type SessionRecord } from "../model/SessionRecord.ts"
import { commandOf, type Decision } from "../unitOfWork/Decision.ts"
import { load, loadRow } from "../unitOfWork/load.ts"
import { namesFor } from "./actorName.ts"

/** A signed-in person, by the name that they would have. */
export interface NewSession extends Omit<SessionRecord, "created_at" | "expires_at"> {
  readonly lasts: Duration.Duration
}

/** Sessions that one identity has at most: a browser each. */
const MOST_SESSIONS = 20

/** Begins a session under the name of its identity. The oldest one ends where the identity has too many. */
export const beginSession = commandOf(function* (unit, { lasts, ...given }: NewSession, by: Signature) {
  const { id, identity, role } = given
  const expires_at = Instant.plus(unit.now, lasts)
  const names = namesFor(given.name, identity)
  yield* load(unit, { rows: { identity_name: names }, groups: { session: [identity] } })
  const owned = unit.of("identity_name")
  const isFree = (name: string) => (owned.get(name)?.identity ?? identity) === identity
  const name = names.find(isFree) ?? names[0]
  if (owned.get(name) === undefined) owned.put({ name, identity })
  const sessions = unit.of("session")
  const signature = { ...by, actor: name }
  const former = sessions.group(identity).filter((row) => !isOver(row, unit.now))
  const oldestFirst = former.toSorted((a, b) => Number(a.created_at - b.created_at))
  for (const oldest of oldestFirst.slice(0, Math.max(0, former.length - MOST_SESSIONS + 1))) {
    sessions.delete(oldest.id)
    recordAudit(unit, signature, "session.ended", [oldest.id], { name: oldest.name })
  }
  const begun = { ...given, name, created_at: unit.now, expires_at }
  sessions.put(begun)
  recordAudit(unit, signature, "session.began", [id], { role, expires_at: Instant.format(expires_at) })
  return begun
})

/** Ends a session. Returns how many there were. */
export const endSession = commandOf(function* (
  unit,
  id: SessionId,
  action: "session.ended" | "session.signed_out",
  by: Signature,
): Decision<number> {
  const ended = yield* loadRow(unit, "session", id)
  if (ended === undefined || isOver(ended, unit.now)) return 0
  unit.of("session").delete(id)
  recordAudit(unit, by, action, [id], { name: ended.name })
  return 1
})
