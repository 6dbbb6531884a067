import { Command } from "effect/cli"
import { accept } from "./agents/accept.ts"
import { block } from "./agents/block.ts"
import { list } from "./agents/list.ts"
import { remove } from "./agents/remove.ts"

/** `tocsin agents` */
export const agents = Command.make("agents").pipe(
  Command.withDescription("List, accept, block and remove agents"),
  Command.withSubcommands([list, accept, block, remove]),
)
