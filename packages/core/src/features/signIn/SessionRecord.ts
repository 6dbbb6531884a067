import { Duration } from "effect"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { Role } from "@tocsin/contract/operators/Operators"
import type { SessionId } from "@tocsin/contract/signIn/Sessions"
import { instant, keyedTable, type RecordOf, text } from "../../kernel/model/TableShape.ts"

/** The issuer of sessions that began by an invitation of an operator, and whose identity is the hash of its token. */
export const OF_OPERATOR = "operator"

/** A person who is signed in by OpenID Connect or by an invitation (docs/rules.md#sign-in). */
export const session = keyedTable({
  name: "session",
  key: ["id"],
  group: ["identity"],
  locks: "groups",
  expiry: {
    rule: "sessions",
    from: "expires_at",
    after: Duration.zero,
    subject: "a session",
    expires: "its end has come",
  },
  list: { name: "sessions", orders: { created_at: ["created_at", "id"] } },
  columns: {
    /** A hash of its token: its reader cannot use the session. */
    id: text<SessionId>(),
    issuer: text(),
    /** A hash of the issuer and its name for the person. */
    identity: text(),
    /** The actor in the audit. */
    name: text(),
    role: text<Role>(),
    created_at: instant,
    expires_at: instant,
  },
})
export type SessionRecord = RecordOf<typeof session>

/** The identity that has a name in the audit, for good. */
export const identity_name = keyedTable({
  name: "identity_name",
  key: ["name"],
  locks: "rows",
  columns: { name: text(), identity: text() },
})

export const isOver = ({ expires_at }: Pick<SessionRecord, "expires_at">, now: Instant): boolean =>
  expires_at <= now
