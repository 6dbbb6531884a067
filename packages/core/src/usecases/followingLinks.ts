import { Effect } from "effect"
import { type FollowedLink, followLink } from "../acknowledgements/followLink.ts"
import type { AuditId } from "@tocsin/contract/Audit"
import type { Commits } from "../engine/commits/Commits.ts"
import { acknowledgesFor } from "../notifications/messageLinks.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { type Ids, newId } from "../ports/Ids.ts"
import type { LinkTokens } from "../ports/LinkTokens.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { StorageError } from "../ports/Storage.ts"
import { NotFound } from "./OperationErrors.ts"

/** A request at a link. */
export interface LinkRequest {
  readonly token: string
  /** Whether to acknowledge; otherwise nothing changes. */
  readonly isPressed: boolean
  readonly requestId: string
}

interface Following extends Pick<RuleOptions, "longestAcknowledgement"> {
  readonly transact: Commits["Service"]["transact"]
  readonly ids: Ids["Service"]
  readonly tokens: LinkTokens | undefined
  readonly policy: () => Policy
}

/** Links in messages (docs/rules.md#links). */
export const followingLinks = ({ ids, longestAcknowledgement, policy, tokens, transact }: Following) => ({
  /** Shows what the link of a message is about, or acknowledges it. Fails if no message has the token. */
  followLink: Effect.fn("Operations.followLink")(function* ({
    isPressed,
    requestId,
    token,
  }: LinkRequest): Effect.fn.Return<FollowedLink, NotFound | StorageError> {
    const id = tokens?.idOf(token)
    if (id === undefined) return yield* new NotFound({ message: "no message has this link" })
    const inForce = policy()
    const input = {
      id,
      isPressed,
      lengthOf: (receiver: string) => acknowledgesFor(inForce, receiver, longestAcknowledgement),
    }
    const by = { via: "link", request_id: requestId, newAuditId: newId<AuditId>(ids) } as const
    return yield* transact(followLink(input, by))
  }),
})
