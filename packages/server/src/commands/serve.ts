import { Effect } from "effect"
import { ProgramModule } from "../threads/askThread.ts"
import { command } from "./define.ts"

export const serve = command({
  name: "serve",
  description: "Run the server, as tocsin does without a command. Environment variables configure it",
  short: "Run the server (the default)",
  parameters: {},
  // Commands start faster without the server.
  run: () =>
    Effect.flatMap(ProgramModule, (module) =>
      Effect.promise(async () => (await import("../serve.ts")).serve(module)),
    ),
})
