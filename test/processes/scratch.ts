import { Context, Effect, Layer } from "effect"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { ScratchFolder } from "../storage/ScratchFolder.ts"

/** An empty folder that outlives what was started in it later, and goes with the scope. */
export const scratchFolder = Effect.map(
  Layer.build(Layer.fresh(ScratchFolder.layer)),
  (services) => Context.get(services, ScratchFolder).path,
)

/** An empty PostgreSQL database for as long. */
export const scratchPostgres = Effect.map(
  Effect.orDie(Layer.build(Layer.fresh(ScratchPostgres.layer))),
  Context.get(ScratchPostgres),
)
