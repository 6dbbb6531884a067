import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import { Redacted, Result } from "effect"
import type { ReceiverSecrets } from "./receiverSecrets.ts"

const SHOWN = 3

/** Three characters of a mail address and its domain. */
const mailHint = (address: string): string => {
  const at = address.lastIndexOf("@")
  return at === -1 ? "" : `${address.slice(0, Math.min(SHOWN, at))}…${address.slice(at)}`
}

/** Enough of where a receiver sends for people to tell it from others; nothing of a path, where secrets are. */
export const addressHint = (receiver: Receiver, { url }: ReceiverSecrets): string | undefined => {
  const to = receiver.kind === "messenger" && receiver.type === "email" ? [receiver.to ?? []].flat() : []
  const [first, ...others] = to
  if (first !== undefined)
    return `${mailHint(first)}${others.length === 0 ? "" : ` and ${others.length} more`}`
  if (url === undefined) return undefined
  const read = Result.try(() => new URL(Redacted.value(url)).host)
  return Result.isSuccess(read) && read.success !== "" ? read.success : undefined
}
