import process from "node:process"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { Effect, Result } from "effect"
import { readPolicyFileText } from "../../policy/loadPolicy.ts"
import { commandSettings } from "../../settings/checkedSettings.ts"
import { addressOf } from "../watches/serverProbes.ts"

/** The receivers that a running server, or else this shell, cannot use, with those of one reason together. */
const unavailableText = (unavailable: ReadonlyMap<string, string>, who: string): string =>
  Array.from(
    Map.groupBy(unavailable, ([, reason]) => reason),
    ([reason, entries]) => {
      const names = entries.map(([name]) => name)
      const of = names.length === 1 ? "the receiver" : "the receivers"
      return `${who} cannot use ${of} ${names.join(", ")}, as ${reason}\n`
    },
  ).join("")

/** The receivers of a policy by the running server; by this shell, if no server answers. */
export const judgedReceivers = Effect.fnUntraced(function* (
  file: string,
  document: PolicyDocument,
  ofShell: ReadonlyMap<string, string>,
) {
  if (document.receivers === undefined) return { text: "" }
  const settings = commandSettings(process.env)
  const { askServer } = yield* Effect.promise(() => import("../../commands/askServer.ts"))
  const address = Result.isSuccess(settings) ? addressOf(settings.success) : undefined
  const answer =
    address === undefined || Result.isFailure(settings)
      ? undefined
      : yield* readPolicyFileText(file).pipe(
          Effect.flatMap((text) =>
            askServer(address, settings.success, ({ policy: calls }) => calls.check(text)),
          ),
          Effect.orElseSucceed(() => undefined),
        )
  if (answer?.unavailable === undefined) {
    const why =
      address === undefined
        ? "the settings are not valid, so no server was asked"
        : answer === undefined
          ? `no server answers at ${address}, which SERVICE_HOST and SERVICE_PORT name`
          : `the server at ${address} does not store its policy, or refuses this one`
    return { text: `${why}: this shell's secrets were tried\n${unavailableText(ofShell, "this shell")}` }
  }
  const unavailable = new Map(answer.unavailable.map(({ reason, receiver }) => [receiver, reason]))
  const text =
    unavailable.size === 0
      ? "the running server can use all of its receivers\n"
      : unavailableText(unavailable, "the running server")
  return { text, unavailable: answer.unavailable }
})
