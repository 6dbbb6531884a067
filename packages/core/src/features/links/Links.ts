import { Context, Effect, Layer } from "effect"
import type { AuditId } from "@tocsin/contract/audit/Audit"
import { followCall, type FollowedLink, followLink } from "../../heart/acknowledgements/acknowledge.ts"
import { NotFound } from "../../kernel/engine/OperationErrors.ts"
import type { Command } from "../../kernel/unitOfWork/Decision.ts"
import { LinkSigner } from "../../kernel/ports/Hashing.ts"
import { newId } from "../../kernel/ports/Ids.ts"
import { acknowledgesFor } from "../../heart/notifications/messageLinks.ts"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"

export interface FollowedToken {
  readonly token: string
  readonly isPressed: boolean
  readonly requestId: string
}

/** Operations of links in messages (docs/rules.md#links). */
const linkOperations = Effect.gen(function* () {
  const { commits, ids, policy, rules } = yield* operationPorts
  const tokens = yield* LinkSigner
  const newAuditId = newId<AuditId>(ids)
  /** A link with the reader of its message. */
  const forReader = (link: FollowedLink): FollowedLink => {
    const { readerOf } = policy.current()
    if (link.outcome === "ended") return { ...link, lang: readerOf(link.receiver).lang }
    const { notification } = link
    return { ...link, notification: { ...notification, ...readerOf(notification.receiver) } }
  }
  const follow = Effect.fnUntraced(function* <A>(
    command: (...given: Parameters<typeof followLink>) => Command<A>,
    { isPressed, requestId, token }: FollowedToken,
  ) {
    const id = tokens?.idOf(token)
    if (id === undefined) return yield* new NotFound({ message: "no message has this link" })
    const inForce = policy.current()
    const lengthOf = (receiver: string) => acknowledgesFor(inForce, receiver, rules.longestAcknowledgement)
    const by = { via: "link", request_id: requestId, newAuditId } as const
    return yield* commits.transact(command({ id, isPressed, lengthOf }, by))
  })
  return {
    /**
     * Shows what the link of a message is about, or acknowledges it if `isPressed`. Fails if no message
     * has the token.
     */
    followLink: Effect.fn("Operations.followLink")((link: FollowedToken) =>
      Effect.map(follow(followLink, link), forReader),
    ),
    /** The same by the key of a call, for each incident that it was about. */
    followCall: Effect.fn("Operations.followCall")((call: FollowedToken) =>
      Effect.map(follow(followCall, call), (links) => links.map(forReader)),
    ),
  }
})

/** The pages and actions that links of messages lead to (docs/rules.md#links). */
export class Links extends Context.Service<Links>()("@tocsin/core/features/links/Links", {
  make: linkOperations,
}) {
  static readonly layer = Layer.effect(Links, Links.make)
}
