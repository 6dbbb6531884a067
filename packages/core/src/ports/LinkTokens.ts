import { Context } from "effect"
import type { OutboxId } from "@tocsin/contract/Identifiers"

/** Makes and reads the tokens of links that act (docs/rules.md#links), as pure synchronous functions. */
export interface LinkTokens {
  /** The token of a notification, always the same. */
  readonly tokenOf: (id: OutboxId) => string
  /** The notification of a token that {@link LinkTokens.tokenOf} made; nothing for any other text. */
  readonly idOf: (token: string) => OutboxId | undefined
}

/** {@link LinkTokens} under the link key; absent without one. */
export const LinkTokens = Context.Reference<LinkTokens | undefined>("@tocsin/core/ports/LinkTokens", {
  defaultValue: () => undefined,
})
