import { SessionId } from "@tocsin/contract/signIn/Sessions"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Duration, Redacted } from "effect"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import { isPerson } from "../../heart/model/SubscriptionRecord.ts"
import { endSubscriptions, prolongSubscriptions } from "../../heart/operators/endSubscriptions.ts"
import { isOver, type SessionRecord } from "./SessionRecord.ts"
import { commandOf, type Decision, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { idOf } from "../../heart/operators/tokens.ts"
import type { Hashing } from "../../kernel/ports/Hashing.ts"
import type { Claims } from "./SignInIssuer.ts"

/** Some issuers send it as text. */
const VERIFIED: ReadonlyArray<unknown> = [true, "true"]

const isName = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

/** An address that the issuer has not verified may be another person's. */
const nameIn = ({ email, email_verified, preferred_username }: Claims): string | undefined =>
  [preferred_username, VERIFIED.includes(email_verified) ? email : undefined].find(isName)

export const hasName = (claims: Claims): boolean => nameIn(claims) !== undefined

const LONGEST_NAME = 51
/** No character is longer than this in its other case. */
const LONGEST_CASE = 3

/** The name of a person in the audit. Names of operators, tokens and users of the command line never begin like it. */
export const actorName = (all: ReadonlyArray<Claims>, subject: string): string => {
  // Two people may have one `name`, which is still better to read than a `sub`.
  const given = [...all.map(nameIn), ...all.map(({ name }) => name)].filter(isName).map(plainName)
  // A name in another script would be `oidc:__`.
  return `oidc:${given.find((name) => /[a-z0-9]/.test(name)) ?? plainName(subject)}`
}

const plainName = (given: string): string =>
  given
    .trim()
    .slice(0, LONGEST_NAME * LONGEST_CASE)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/gu, "_")
    .slice(0, LONGEST_NAME)

/** Digits of an identity's hash behind a name that another identity has; more where that is taken, too. */
const DIGITS = [6, 12, 64]

/** The names that an identity may have, the best first. The last one is its alone. */
const namesFor = (name: string, identity: string): readonly [string, ...ReadonlyArray<string>] => [
  name,
  ...DIGITS.map((digits) => `${name}.${identity.slice(0, digits)}`),
]

export const sessionIdOf = (hashing: Hashing["Service"], token: Redacted.Redacted) =>
  SessionId.make(idOf("se1", hashing, token))

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
  yield* prolongSubscriptions(unit, name)
  recordAudit(unit, signature, "session.began", [id], { role, expires_at: Instant.format(expires_at) })
  return begun
})

/** How the names of people begin, and no ID of a session. */
const PERSON = "oidc:"

/** The session of an ID, or all sessions of the person with a name, also those under former names. */
function* sessionsOf(unit: UnitOfWork, named: string): Decision<ReadonlyArray<SessionRecord>> {
  if (!named.startsWith(PERSON)) {
    // Anything but a name is an ID.
    const one = yield* loadRow(unit, "session", named as SessionId)
    return one === undefined ? [] : [one]
  }
  const owner = yield* loadRow(unit, "identity_name", named)
  if (owner === undefined) return []
  yield* load(unit, { groups: { session: [owner.identity] } })
  return unit.of("session").group(owner.identity)
}

/** Ends a session, or all of a person at once. Returns how many there were. */
export const endSession = commandOf(function* (
  unit,
  named: string,
  action: "session.ended" | "session.signed_out",
  by: Signature,
): Decision<number> {
  const ended = (yield* sessionsOf(unit, named)).filter((row) => !isOver(row, unit.now))
  const ids = ended.map(({ id }) => id)
  for (const id of ids) unit.of("session").delete(id)
  for (const name of new Set(ended.map((row) => row.name)))
    yield* endSubscriptions(
      unit,
      name,
      by,
      ({ session }) =>
        (action === "session.ended" && isPerson(name)) || (session !== undefined && ids.includes(session)),
    )
  const [first] = ended
  if (first !== undefined) recordAudit(unit, by, action, ids, { name: first.name })
  return ids.length
})
