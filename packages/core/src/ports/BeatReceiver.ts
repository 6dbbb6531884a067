import { Context, type Effect } from "effect"
import type { TestReceipt } from "./Notifiers.ts"

/** A sign of life: all is well, or what is not. */
export type Beat = { readonly isWell: true } | { readonly isWell: false; readonly text: string }

/** Another system that sounds the alarm when no beat comes, or one that tells of trouble. */
export class BeatReceiver extends Context.Service<
  BeatReceiver,
  {
    /** Makes one attempt to send a beat. Never fails: what goes wrong is a result, without an address. Ends within 10 s. */
    readonly send: (beat: Beat) => Effect.Effect<TestReceipt>
  }
>()("@tocsin/core/ports/BeatReceiver") {}
