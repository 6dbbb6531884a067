import { Effect, Redacted, Struct } from "effect"
import type { OperatorName } from "@tocsin/contract/operators/Operators"
import { InvitationId, type InvitedSignInRequest } from "@tocsin/contract/signIn/Invitations"
import type { signing } from "../../heart/audit/recordAudit.ts"
import { idOf, tokenOf } from "../../heart/operators/tokens.ts"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { NotFound, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import type { Hashing } from "../../kernel/ports/Hashing.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import type { Ids } from "../../kernel/ports/Ids.ts"
import { RefusedSignIn } from "./SignInIssuer.ts"
import {
  invite,
  MOST_INVITATIONS,
  peekAtInvitation,
  readInvitations,
  removeInvitation,
  useInvitation,
} from "./invitationDecisions.ts"
import { sessionIdOf } from "./sessionDecisions.ts"

interface Ports {
  readonly hashing: Hashing["Service"]
  readonly ids: Ids["Service"]
  readonly signed: ReturnType<typeof signing>
  readonly transact: Commits["Service"]["transact"]
  readonly storage: Pick<Storage["Service"], "rows">
}

const noSuchOperator = () =>
  new NotFound({ message: "no operator has this name; list operators with GET /ops/v1/operators" })

const TOO_MANY = `an operator has ${MOST_INVITATIONS} open invitations at most: delete one first`

/** Invitations of operators, and the sessions that they begin (docs/rules.md#invitations). */
export const invitationOperations = ({ hashing, ids, signed, storage, transact }: Ports) => {
  const idOfToken = (token: Redacted.Redacted) => InvitationId.make(idOf("iv1", hashing, token))
  const find = Effect.fnUntraced(function* ({ invitation }: InvitedSignInRequest) {
    const [row] = yield* storage.rows("invitation", [idOfToken(invitation)])
    return row ?? (yield* RefusedSignIn.because("invitation"))
  })
  return {
    /** Invites an operator, and returns the token this once. */
    invite: Effect.fn("Sessions.invite")(function* (name: OperatorName) {
      const token = yield* Effect.sync(() => tokenOf("invitation", ids.secret()))
      const made = yield* signed((by) => invite(name, idOfToken(token), by))
      if (made === "absent") return yield* noSuchOperator()
      if (made === "too_many") return yield* new StateConflict({ message: TOO_MANY })
      return { token: Redacted.value(token), ...Struct.pick(made, ["id", "expires_at"]) }
    }),
    invitations: Effect.fnUntraced(function* (name: OperatorName) {
      const rows = yield* transact(readInvitations(name))
      if (rows === undefined) return yield* noSuchOperator()
      return {
        items: rows.map((row) => Struct.pick(row, ["id", "created_at", "created_by", "expires_at"])),
      }
    }),
    removeInvitation: Effect.fn("Sessions.removeInvitation")(function* (
      name: OperatorName,
      id: InvitationId,
    ) {
      return { count: yield* signed((by) => removeInvitation(name, id, by)) }
    }),
    /** The operator whom an invitation invites, without a use of it. */
    peekAtInvitation: Effect.fnUntraced(function* (request: InvitedSignInRequest) {
      const found = yield* transact(peekAtInvitation(yield* find(request)))
      if (found === undefined) return yield* RefusedSignIn.because("invitation")
      if (found === "used") return yield* RefusedSignIn.because("used_invitation")
      return Struct.pick(found, ["name", "role"])
    }),
    /** Begins a session by an invitation, and returns its token this once. */
    useInvitation: Effect.fn("Sessions.useInvitation")(function* (request: InvitedSignInRequest) {
      const named = yield* find(request)
      const token = yield* Effect.sync(() => tokenOf("session", ids.secret()))
      const begun = yield* signed((by) => useInvitation(named, sessionIdOf(hashing, token), by))
      if (begun === undefined) return yield* RefusedSignIn.because("invitation")
      if (begun === "used") return yield* RefusedSignIn.because("used_invitation")
      const { expires_at, role } = begun
      return { token: Redacted.value(token), name: named.operator, role, expires_at }
    }),
  }
}
