import type { Setting } from "@tocsin/client"
import { attempt } from "../../state/kept.ts"
import type { Texts } from "../../view/FormField.ts"
import { isLocal } from "../enrolment/agentCommands.ts"

/** Why the service will refuse an address that leads to itself, and what allows it. */
export const loopbackText = ({ address = "" }: Texts, loopback: Setting | undefined): string | undefined => {
  const isOwn = attempt(() => isLocal(address.replace(/^ping:(?:\/\/)?/i, "ping://")))
  if (loopback?.value !== false || isOwn !== true) return undefined
  return `This is the server's own machine: ${
    loopback.source === "environment"
      ? "SERVICE_WATCH_LOOPBACK=false forbids watches of it."
      : "allow watches to read from it in Settings."
  }`
}
