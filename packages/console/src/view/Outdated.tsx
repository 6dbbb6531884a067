import type { Agent } from "@tocsin/client"
import { isOutdated } from "../format/isOutdated.ts"
import { useRead } from "./usePages.ts"

/** The version of the server, as its page for programs states it. */
export const useServerVersion = (): string | undefined =>
  useRead<{ readonly version: string }>("", {}, []).value?.version

interface OutdatedProps {
  readonly agent: Agent
  readonly server: string | undefined
}

/** Marks an agent that is older than the server. */
export const Outdated = ({ agent: { labels }, server }: OutdatedProps) =>
  isOutdated(labels, server) ? (
    <em class="is-taken" title="“Add a host” writes the lines that upgrade it">
      older than the server, {server}
    </em>
  ) : null
