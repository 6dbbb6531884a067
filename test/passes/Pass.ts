import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { type Duration, type Effect, type Layer, Result } from "effect"
import type { Receivers } from "../service/Receivers.ts"
import type { Process } from "../service/Service.ts"
import type { ShiftedClock } from "../service/ShiftedClock.ts"
import type { Called } from "./InterruptedStorage.ts"

/** A service in which one process does all background work, and another one takes requests. */
export interface PassWorld {
  readonly clock: ShiftedClock
  readonly front: Process
  readonly receivers: Receivers
  /** Both processes follow this policy from now on. */
  readonly follows: (document: PolicyDocument) => Effect.Effect<void>
  /** The process sends to these receivers from now on. */
  readonly sendsTo: (...receivers: ReadonlyArray<NotifierName>) => Effect.Effect<void>
  readonly passes: (time: Duration.Input) => Effect.Effect<void>
  /** Opens a third process, with a policy of its own. */
  readonly opensOther: (policy: object) => Effect.Effect<void>
  readonly closesOther: Effect.Effect<void>
}

/** One kind of background work, with rows that need several pieces of it. */
export interface Pass {
  readonly name: string
  readonly notifiers?: ReadonlyArray<NotifierName>
  /** The storage; in memory unless given. */
  readonly over?: Layer.Layer<Storage, StorageError>
  readonly policy?: object
  readonly retention?: Duration.Duration
  /** A year unless given: agents may be silent. */
  readonly deadAfter?: Duration.Duration
  /** Whether only its process knows of the work, so that none is left once it has broken off. */
  readonly endsWithProcess?: boolean
  /** The state before it has work; the process is not running yet. */
  readonly begin: (world: PassWorld) => Effect.Effect<void>
  /** The events once the process runs, just before its work may be interrupted. */
  readonly ready?: (world: PassWorld) => Effect.Effect<void>
  /** The change that gives it work; absent where that is due by time. */
  readonly change?: (world: PassWorld) => Effect.Effect<void>
  /** Another change, which `change` undoes. */
  readonly detour?: (world: PassWorld) => Effect.Effect<void>
  /** The methods of the storage whose calls may be interrupted; transactions and lists by default. */
  readonly calls?: ReadonlyArray<Called>
  /** While it lasts, a call may be interrupted. */
  readonly lasts: Duration.Input
  /** The time after which the rows must be those of an undisturbed run. */
  readonly settles: Duration.Input
  /** By how much times may differ from those of an undisturbed run; 30 seconds unless given. */
  readonly within?: Duration.Duration
}

/** The receivers of every world. */
export const NAMES = ["chat", "pager"]

export const documentOf = (document: object): PolicyDocument => Result.getOrThrow(readPolicy(document, NAMES))
