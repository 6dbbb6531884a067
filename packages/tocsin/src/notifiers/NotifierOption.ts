import type { BadNotifierSetting } from "@tocsin/adapter-notify/BadNotifierSetting"
import type { PostingOptions } from "@tocsin/adapter-notify/http/HttpPost"
import type { Ids } from "@tocsin/core/ports/Ids"
import type { Notifier } from "@tocsin/core/ports/Notifiers"
import type { Effect, Scope } from "effect"
import type { CustomNotifier } from "./CustomNotifier.ts"

/** Makes a notifier when the monitor starts. */
export type MakeNotifier = (
  posting: PostingOptions,
) => Effect.Effect<Notifier, BadNotifierSetting, Scope.Scope | Ids>

/** A notifier that Tocsin brings: the result of `webhook`, `slack`, `telegram`, `alertRouter` or `debug`. */
export interface BuiltInNotifier {
  /** Names it in the outbox; each notifier of a monitor has a name of its own. */
  readonly name: string
  /** For the monitor. */
  readonly make: MakeNotifier
}

/** What can be told of incidents: a notifier that Tocsin brings, or an object of yours. */
export type NotifierOption = BuiltInNotifier | CustomNotifier
