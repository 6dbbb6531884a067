import { Context, Effect, Layer, Redacted, Struct } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Session, SignInOptions, SignInRequest } from "@tocsin/contract/signIn/Sessions"
import { type PageParameters, pageReader } from "../../kernel/engine/lists/readPage.ts"
import { isOver, OF_OPERATOR, type SessionRecord } from "./SessionRecord.ts"
import { invitationOperations } from "./invitationOperations.ts"
import { isValidToken } from "../../heart/model/OperatorRecord.ts"
import { KeyHash } from "@tocsin/contract/formats/Identifiers"
import { OperatorName, Role } from "@tocsin/contract/operators/Operators"
import { isUseNotable, noteUse } from "../../heart/operators/operatorDecisions.ts"
import { tokenOf } from "../../heart/operators/tokens.ts"
import { CurrentOperator, type OperatorIdentity } from "../../kernel/ports/CurrentOperator.ts"
import {
  type Claims,
  SignInIssuer,
  type SignInIssuer as Provider,
  RefusedSignIn,
  type SignInRules,
} from "./SignInIssuer.ts"
import { actorName, beginSession, endSession, hasName, sessionIdOf } from "./sessionDecisions.ts"
import { NotFound } from "../../kernel/engine/OperationErrors.ts"
import { pathOfPointer, valueAt } from "@tocsin/contract/formats/jsonPointer"
import type { SignInRefusal } from "@tocsin/contract/signIn/SignInRefusals"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"

const EVERYONE = "*"

const pathOf = (claim: string): ReadonlyArray<string> =>
  claim.startsWith("/") ? pathOfPointer(claim) : [claim]

/**
 * The texts of a claim: a text or a truth value counts as one, and an object as its keys, as Zitadel states roles.
 * `undefined` if it is absent, or has another type.
 */
const valuesOf = (claims: Claims, claim: string): ReadonlyArray<string> | undefined => {
  const value = valueAt(claims, pathOf(claim))
  const values: unknown = typeof value === "string" || typeof value === "boolean" ? [String(value)] : value
  if (Array.isArray(values)) return values.filter((one) => typeof one === "string")
  return typeof values === "object" && values !== null ? Object.keys(values) : undefined
}

/** How the first claims that have it state a claim without a text. */
const otherType = (all: ReadonlyArray<Claims>, claim: string): string | undefined => {
  const stated = all.map((claims) => valueAt(claims, pathOf(claim))).find((value) => value !== undefined)
  if (Array.isArray(stated) && stated.length > 0) return "a list without texts"
  return stated === null ? "null" : typeof stated === "number" ? "a number" : undefined
}

const firstValues = (all: ReadonlyArray<Claims>, claim: string) =>
  all.map((claims) => valuesOf(claims, claim)).find((values) => values !== undefined)

/** Whether the ID token leaves out the values and says where they would be (OpenID Connect Core, 5.6.2). */
const isOverage = (all: ReadonlyArray<Claims>, claim: string): boolean =>
  all.some((claims) => valueAt(claims["_claim_names"], pathOf(claim).slice(0, 1)) !== undefined)

type RoleDecision =
  | { readonly role: Role }
  | {
      readonly refusal: SignInRefusal & ("overage" | "requirement" | "role")
      /** The values of the claim instead. */
      readonly values: ReadonlyArray<string> | undefined
      /** The type of the claim, where it has no text. */
      readonly type?: string
    }

const refused = (
  refusal: "requirement" | "role",
  all: ReadonlyArray<Claims>,
  claim: string,
): RoleDecision => {
  const values = firstValues(all, claim)
  const type = (values ?? []).length === 0 ? otherType(all, claim) : undefined
  return { refusal, values, ...(type !== undefined && { type }) }
}

/** The role of a person by the claims of the ID token and, after it, of userinfo. The highest one counts. */
export const decideRole = (rules: SignInRules, all: ReadonlyArray<Claims>): RoleDecision => {
  const { claim, required, values } = rules
  if (required !== undefined && firstValues(all, required.claim)?.includes(required.value) !== true)
    return refused("requirement", all, required.claim)
  if (isOverage(all, claim)) return { refusal: "overage", values: undefined }
  const found = firstValues(all, claim)
  const role = Role.literals.findLast((each) =>
    values[each].some((value) => value === EVERYONE || found?.includes(value) === true),
  )
  return role === undefined ? refused("role", all, claim) : { role }
}

/** Whether the ID token says all that a sign-in needs, so that userinfo is not asked. */
export const isComplete = ({ claim, required }: SignInRules, claims: Claims): boolean =>
  hasName(claims) &&
  [claim, ...(required === undefined ? [] : [required.claim])].every(
    (name) => valuesOf(claims, name) !== undefined,
  )

const noSignIn = () =>
  new NotFound({ message: "people sign in with tokens alone here: use one, or set SERVICE_OIDC_ISSUER" })

const NO_OPTIONS: SignInOptions = {}
const MOST_SHOWN = 10
const LONGEST_SHOWN = 64

/** The values of a claim as a message names them. */
const shownValues = (
  claim: string,
  values: ReadonlyArray<string> | undefined,
  type: string | undefined,
): string => {
  if (type !== undefined) return `the claim ${claim} is ${type}: let the identity provider state names`
  if (values === undefined) return `the claim ${claim} is absent`
  const shown = values.slice(0, MOST_SHOWN).map((value) => value.slice(0, LONGEST_SHOWN))
  const more = values.length > MOST_SHOWN ? ` and ${values.length - MOST_SHOWN} more` : ""
  return values.length === 0 ? `the claim ${claim} is empty` : `${claim} has ${shown.join(", ")}${more}`
}

const toSession = (row: SessionRecord): Session =>
  Struct.pick(row, ["id", "name", "role", "created_at", "expires_at"])

const identify = Effect.fnUntraced(function* ({ exchange, rules }: Provider, request: SignInRequest) {
  const person = yield* exchange(request)
  const userinfo = isComplete(rules, person.claims) ? undefined : yield* person.userinfo
  const claims = userinfo === undefined ? [person.claims] : [person.claims, userinfo]
  const decided = decideRole(rules, claims)
  if ("role" in decided)
    return { ...decided, name: actorName(claims, person.subject), subject: person.subject }
  const { refusal, type, values } = decided
  const claim = refusal === "requirement" ? (rules.required?.claim ?? "") : rules.claim
  const detail = refusal === "overage" ? undefined : shownValues(claim, values, type)
  return yield* RefusedSignIn.because(refusal, detail)
})

/** People who sign in by OpenID Connect, and their sessions (docs/rules.md#sign-in). */
export class Sessions extends Context.Service<Sessions>()("@tocsin/core/features/signIn/Sessions", {
  make: Effect.gen(function* () {
    const {
      commits: { transact },
      hashing,
      ids,
      signed,
      storage,
    } = yield* operationPorts
    const provider = yield* SignInIssuer
    const page = pageReader(storage, hashing.sha256)

    const begin = Effect.fnUntraced(function* (from: Provider, request: SignInRequest) {
      const { issuer, lasts } = from
      const { subject, ...person } = yield* identify(from, request)
      const token = yield* Effect.sync(() => tokenOf("session", ids.secret()))
      const identity = hashing.sha256(JSON.stringify([issuer, subject]))
      const session = { ...person, id: sessionIdOf(hashing, token), issuer, identity, lasts }
      const begun = yield* signed((by) => beginSession(session, by))
      return { token: Redacted.value(token), ...Struct.pick(begun, ["name", "role", "expires_at"]) }
    })

    /** The operator of a session that began by an invitation, as it is now; nothing once its token of then has ended. */
    const asOperator = Effect.fnUntraced(function* (row: SessionRecord, now: Instant.Instant) {
      const [operator] = yield* storage.rows("operator", [OperatorName.make(row.name)])
      const hash = KeyHash.make(row.identity)
      if (operator === undefined || !isValidToken(operator, hash, now)) return undefined
      if (isUseNotable(operator, now)) yield* Effect.ignore(transact(noteUse(operator.name, hash)))
      const ends = [
        row.expires_at,
        operator.expires_at,
        hash === operator.token_hash ? undefined : operator.former_valid_until,
      ]
      const [expires_at] = ends.flatMap((end) => end ?? []).toSorted((a, b) => (a < b ? -1 : 1))
      return { name: row.name, role: operator.role, expires_at, session: row.id } satisfies OperatorIdentity
    })

    return {
      ...invitationOperations({ hashing, ids, signed, storage, transact }),
      options:
        provider === undefined
          ? Effect.succeed(NO_OPTIONS)
          : Effect.map(provider.offer, (oidc): SignInOptions => ({ oidc })),
      /** Begins a session for the person of a code, and returns its token this once. */
      signIn: Effect.fn("Sessions.signIn")(function* (request: SignInRequest) {
        if (provider === undefined) return yield* noSignIn()
        return yield* begin(provider, request)
      }),
      /** The person of a session's token, looked up in the storage each time; `undefined` if it is not valid. */
      authenticate: Effect.fnUntraced(function* (token: Redacted.Redacted) {
        const id = sessionIdOf(hashing, token)
        const [row] = yield* storage.rows("session", [id])
        const now = yield* Instant.now
        if (row === undefined || isOver(row, now)) return undefined
        if (row.issuer === OF_OPERATOR) return yield* asOperator(row, now)
        // Where this server no longer signs in by its issuer, a session counts for nothing.
        if (row.issuer !== provider?.issuer) return undefined
        return { ...Struct.pick(row, ["name", "role", "expires_at"]), session: id } satisfies OperatorIdentity
      }),
      /** Ends the session of the present operator; count 0 for another token. */
      signOut: Effect.gen(function* () {
        const { session: id } = yield* CurrentOperator
        const count = id === undefined ? 0 : yield* signed((by) => endSession(id, "session.signed_out", by))
        return { count }
      }),
      list: (parameters: PageParameters) =>
        page({ list: "sessions", filter: {}, sort: "created_at", direction: "desc" }, parameters, toSession),
      /** Ends the session of an ID, or all of a person's name; count 0 if there is none. */
      end: Effect.fn("Sessions.end")(function* (named: string) {
        return { count: yield* signed((by) => endSession(named, "session.ended", by)) }
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(Sessions, Sessions.make)
}
