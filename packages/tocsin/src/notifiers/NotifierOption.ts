import type { BadNotifierSetting } from "@tocsin/adapter-notify/BadNotifierSetting"
import type { PostingOptions } from "@tocsin/adapter-notify/http/HttpPost"
import type { TargetPolicy } from "@tocsin/adapter-notify/http/RefusedAddresses"
import type { Ids } from "@tocsin/core/ports/Ids"
import type { Notifier } from "@tocsin/core/ports/Notifiers"
import type { Effect, Scope } from "effect"
import type { Problems } from "../options/Problems.ts"
import type { CustomNotifier } from "./CustomNotifier.ts"

/** Makes a notifier when the monitor starts. */
export type MakeNotifier = (
  posting: PostingOptions,
) => Effect.Effect<Notifier, BadNotifierSetting, Scope.Scope | Ids>

/** A notifier that Tocsin brings: the result of `webhook`, `slack`, `telegram`, `alertRouter` or `debug`. */
export interface BuiltInNotifier {
  /** Names it in the outbox; each notifier of a monitor has a name of its own. */
  readonly name: string
  /** The function that gave it, for messages. */
  readonly factory: string
  /** For the monitor: notes what is wrong with the options at `path`. */
  readonly check: (policy: TargetPolicy, path: string, problems: Problems) => void
  /** For the monitor; only after `check` found nothing. */
  readonly make: MakeNotifier
}

/** What can be told of incidents: a notifier that Tocsin brings, or an object of yours. */
export type NotifierOption = BuiltInNotifier | CustomNotifier
