import { Effect, type Scope } from "effect"
import type { LaunchedProcess } from "../processes/ServerProcess.ts"
import type { Environment } from "../processes/secrecy.ts"
import type { Arrival, WebhookReceiver, Reaction } from "../processes/WebhookReceiver.ts"
import type { Load } from "./Load.ts"
import type { FaultyPostgres } from "./FaultyPostgres.ts"

/** The storage and the number of servers that a fault meets. */
export type Setup = "sqlite" | "postgres" | "three on postgres"

/** For faults that may meet any of them. */
export const EVERYWHERE: ReadonlyArray<Setup> = ["sqlite", "postgres", "three on postgres"]

/** A server before its start. */
export interface Site {
  readonly index: number
  readonly port: number
  /** Its working folder; its data is in `data`. */
  readonly folder: string
  /** Nothing on SQLite. */
  readonly databaseUrl: string | undefined
  /** Where it sends notifications. */
  readonly receiverUrl: string
}

/** How a server is started. */
export interface Conditions {
  /** Settings beside or instead of those that every server has. */
  readonly environment?: Environment
  /** A program that becomes the server under other conditions, with its arguments. */
  readonly through?: ReadonlyArray<string>
}

/** A server that stays at its address, whatever process runs it. */
export interface Place extends Site {
  readonly baseUrl: string
  /** The present process. */
  readonly process: () => LaunchedProcess
  /** Starts a process and waits until it listens. */
  readonly start: Effect.Effect<void>
  /** Starts a process, and does not wait. With `args`, a command of Tocsin with these settings. */
  readonly launch: (changes?: Launch) => Effect.Effect<LaunchedProcess>
}

/** How a process differs from the server of its place. */
export interface Launch {
  readonly environment?: Environment
  readonly args?: ReadonlyArray<string>
}

/** Servers under load, for a fault to disturb. */
export interface Stage {
  readonly setup: Setup
  readonly places: readonly [Place, ...ReadonlyArray<Place>]
  /** One of them, another one each time. */
  readonly anyPlace: Effect.Effect<Place>
  /** Where the tables are; nothing on SQLite. */
  readonly postgres: FaultyPostgres | undefined
  /** Takes the notifications, as a webhook and as a mail server, which react alike. */
  readonly receiver: Pick<WebhookReceiver, "arrivals" | "close" | "open"> & {
    readonly mails: ReadonlyArray<Arrival>
    reactionTo: () => Reaction
  }
  readonly load: Load
  /** From 0 up to 1. */
  readonly random: () => number
  /** Waits a random time up to a limit, for a fault at an arbitrary moment. */
  readonly anyMoment: (limitMillis: number) => Effect.Effect<void>
  /** The fault is over from here on: recovery is measured from the last call. */
  readonly isOver: Effect.Effect<void>
  /** Starts the servers again that have ended, as a service manager does. */
  readonly revive: Effect.Effect<void>
  readonly overSince: () => number | undefined
}

/** A fault that is ready to be caused. */
export interface Prepared {
  /** The server's conditions from its start on, until the scope closes. */
  readonly conditions?: (site: Site) => Effect.Effect<Conditions, never, Scope.Scope>
  /** Causes it once, and ends it. */
  readonly inflict: (stage: Stage) => Effect.Effect<void, never, Scope.Scope>
}

/** Something that goes wrong. */
export interface Fault {
  readonly name: string
  /** How it is caused. */
  readonly cause: string
  /** The effects that agents and operators notice meanwhile. */
  readonly seen: string
  readonly setups: ReadonlyArray<Setup>
  /** How often it is caused, unless the command line gives a number. */
  readonly rounds: number
  /** Why it cannot be caused on this machine, if it cannot. */
  readonly missing?: () => string | undefined
  /** Starts what the fault needs beside the servers, until the scope closes. */
  readonly prepare: Effect.Effect<Prepared, never, Scope.Scope>
}

/** Prepares a fault that needs nothing beside the servers. */
export const at = (inflict: Prepared["inflict"]): Fault["prepare"] => Effect.succeed({ inflict })

/** Has the receiver react in another way, until the scope closes. */
export const reacting = (receiver: Stage["receiver"], reactionTo: () => Reaction) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = receiver.reactionTo
      receiver.reactionTo = reactionTo
      return before
    }),
    (before) => Effect.sync(() => (receiver.reactionTo = before)),
  )
