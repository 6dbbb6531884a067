import { Duration, Effect } from "effect"
import { type DownloadedFile, inMemory, readFolder } from "./DownloadedFile.ts"

export interface AgentFiles {
  /** Of the agent. */
  readonly version: string
  /** The installing script without its checksums. */
  readonly installer: string
  /** The agent's package, in base64. */
  readonly tarball: string
}

/** The files that a server hands out below /agent, the same until it stops (docs/rules.md#agent-downloads). */
export interface DownloadFiles {
  readonly version: string
  /** Of install.sh, and so of all files: the script contains their SHA-256. */
  readonly sha256: string
  /** By name. */
  readonly files: ReadonlyMap<string, DownloadedFile>
}

const INSTALLER = "install.sh"
const TARBALL = "tocsin-agent.tgz"
const CHECKSUMS = "@CHECKSUMS@"

/** A folder on a network that does not answer must not keep a server from starting. */
const FOLDER_WITHIN = Duration.seconds(30)

/** The files of the folder; none, and a warning, if it cannot be read. */
const filesIn = (folder: string | undefined) =>
  folder === undefined
    ? Effect.succeed([])
    : readFolder(folder).pipe(
        Effect.timeout(FOLDER_WITHIN),
        Effect.catch((cause) =>
          Effect.as(
            Effect.logWarning(
              "SERVICE_AGENT_DIR cannot be read, so nothing in it is handed out: correct the path or its rights, and restart the server",
              cause,
            ),
            [],
          ),
        ),
      )

/** Makes everything that a server hands out, and hashes it. */
export const makeDownloadFiles = Effect.fnUntraced(function* (
  { installer, tarball, version }: AgentFiles,
  folder: string | undefined,
) {
  const package_ = inMemory(TARBALL, Buffer.from(tarball, "base64"))
  const found = yield* filesIn(folder)
  const others = found.filter(({ name }) => name !== TARBALL)
  if (others.length < found.length)
    yield* Effect.logWarning(
      `${TARBALL} in SERVICE_AGENT_DIR is not handed out, since the server has its own: remove that file, or give it another name`,
    )
  const fetched = [package_, ...others]
  const checksums = fetched.map(({ name, sha256 }) => `${sha256}  ${name}`).join("\n")
  const script = inMemory(INSTALLER, Buffer.from(installer.replace(CHECKSUMS, checksums)))
  return {
    version,
    sha256: script.sha256,
    files: new Map([script, ...fetched].map((file) => [file.name, file])),
  } satisfies DownloadFiles
})
