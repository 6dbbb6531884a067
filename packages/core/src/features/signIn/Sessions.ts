import { Context, Effect, Layer, Redacted, Struct } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Session, type SignInOptions, type SignInRequest } from "@tocsin/contract/signIn/Sessions"
import { signing } from "../../heart/audit/recordAudit.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { type PageParameters, pageReader } from "../../kernel/engine/lists/readPage.ts"
import { isOver, OF_OPERATOR, type SessionRecord } from "./SessionRecord.ts"
import { invitationOperations } from "./invitationOperations.ts"
import { isValidToken } from "../../heart/model/OperatorRecord.ts"
import { KeyHash } from "@tocsin/contract/formats/Identifiers"
import { OperatorName } from "@tocsin/contract/operators/Operators"
import { isUseNotable, noteUse } from "../../heart/operators/operatorDecisions.ts"
import { tokenOf } from "../../heart/operators/tokens.ts"
import { CurrentOperator, type OperatorIdentity } from "../../kernel/ports/CurrentOperator.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { type IdentityProvider as Provider, IdentityProvider, RefusedSignIn } from "./IdentityProvider.ts"
import { Ids } from "../../kernel/ports/Ids.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { actorName } from "./actorName.ts"
import { decideRole, isComplete } from "./decideRole.ts"
import { beginSession, endSession, sessionIdOf } from "./sessionDecisions.ts"
import { NotFound } from "../../kernel/engine/OperationErrors.ts"

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
    const storage = yield* Storage
    const hashing = yield* Hashing
    const ids = yield* Ids
    const provider = yield* IdentityProvider
    const commits = yield* Commits
    const { transact } = commits
    const signed = signing(commits, ids)
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
