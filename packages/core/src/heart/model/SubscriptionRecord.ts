import type { SubscriptionId } from "@tocsin/contract/push/Push"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { SessionId } from "@tocsin/contract/signIn/Sessions"
import { Duration } from "effect"
import { fixed, type ListPlan, one } from "../../kernel/model/ListPlan.ts"
import { instant, keyedTable, orUndefined, type RecordOf, text } from "../../kernel/model/TableShape.ts"

export interface SubscriptionFilter {
  readonly operator?: string | undefined
}

/** A browser that gets the notifications of an operator (docs/rules.md#browsers). */
export const push_subscription = keyedTable({
  name: "push_subscription",
  key: ["id"],
  group: ["operator"],
  locks: "groups",
  expiry: {
    rule: "subscriptions",
    from: "expires_at",
    after: Duration.zero,
    subject: "a browser that gets notifications",
    expires: "90 days after the last sign-in of its person; never of an operator with a token",
  },
  list: {
    name: "subscriptions",
    orders: { created_at: ["created_at", "id"] },
    plan: ({ operator }: SubscriptionFilter): ListPlan => one({ fixed: fixed("operator", operator) }),
    passes: ({ operator }: SubscriptionFilter, row: { readonly operator: string }): boolean =>
      operator === undefined || operator === row.operator,
  },
  columns: {
    /** A hash of its address: the same browser has the same row. */
    id: text<SubscriptionId>(),
    operator: text(),
    name: text(),
    /** The host of its address. */
    service: text(),
    /** Address and keys, under the operator and the ID. */
    ciphertext: text(),
    /** Identifies the key that opens it, without revealing that. */
    key_id: text(),
    /** The session in which it was made; absent for a token. */
    session: orUndefined(text<SessionId>()),
    created_at: instant,
    /** Of a person who signs in; absent for an operator with a token. */
    expires_at: orUndefined(instant),
    taken_at: orUndefined(instant),
    tested_at: orUndefined(instant),
    shown_at: orUndefined(instant),
    last_error: orUndefined(text()),
  },
})
export type SubscriptionRecord = RecordOf<typeof push_subscription>

/** The key by which browsers know this service, of all servers. */
export const push_key = keyedTable({
  name: "push_key",
  key: ["name"],
  locks: "rows",
  columns: {
    name: text<"vapid">(),
    public_key: text(),
    ciphertext: text(),
    key_id: text(),
    created_at: instant,
  },
})
export type PushKeyRecord = RecordOf<typeof push_key>

/** How the names of people begin who sign in by OpenID Connect. */
const PERSON = "oidc:"

export const isPerson = (operator: string): boolean => operator.startsWith(PERSON)

/** How long the browsers of a person outlive the last sign-in: else nobody would ring at night. */
export const OUTLIVES_SIGN_IN = Duration.days(90)

export const hasLapsed = ({ expires_at }: Pick<SubscriptionRecord, "expires_at">, now: Instant): boolean =>
  expires_at !== undefined && expires_at <= now
