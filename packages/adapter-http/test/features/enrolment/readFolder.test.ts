import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { hash } from "node:crypto"
import { makeDownloadFiles } from "../../../src/features/enrolment/DownloadFiles.ts"
import {
  type DownloadedFile,
  PIECE_BYTES,
  readFolder,
} from "../../../src/features/enrolment/DownloadedFile.ts"

const scratch = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tocsin-downloads-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true })),
)

/** All pieces of a file, or the tag of its failure. */
const read = ({ bytes, open }: DownloadedFile) =>
  Effect.scoped(
    Effect.gen(function* () {
      const piece = yield* open
      const pieces: Array<Uint8Array> = []
      for (let at = 0; at < bytes; at += PIECE_BYTES) pieces.push(yield* piece(at))
      return Buffer.concat(pieces).toString("latin1")
    }),
  ).pipe(Effect.catch(({ _tag }) => Effect.succeed(_tag)))

const PIPE_MAKER = "mkfifo"

const CHANGES: ReadonlyArray<readonly [string, (file: string) => void]> = [
  ["is longer", (file) => appendFileSync(file, "more")],
  ["is shorter", (file) => truncateSync(file, 3)],
  ["has other bytes", (file) => writeFileSync(file, "Content")],
  ["has other rights", (file) => chmodSync(file, 0o600)],
  ["is removed", (file) => rmSync(file)],
  [
    "is a link",
    (file) => {
      rmSync(file)
      symlinkSync("/etc/passwd", file)
    },
  ],
  [
    "is a pipe, which has no writer",
    (file) => {
      rmSync(file)
      execFileSync(PIPE_MAKER, [file])
    },
  ],
]

describe("the folder of files to hand out", () => {
  it.effect("has its plain files of the right names, by name; others are left out", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const folder = yield* scratch
      const content = "x".repeat(PIECE_BYTES + 1)
      for (const name of [
        "tocsin-agent_1.deb",
        "tocsin-agent-linux-x64",
        "other",
        "SHA256SUMS",
        ".tocsin-agent",
      ])
        writeFileSync(join(folder, name), content)
      writeFileSync(join(folder, "tocsin-agent é"), content)
      mkdirSync(join(folder, "tocsin-agent-folder"))
      symlinkSync("/etc/passwd", join(folder, "tocsin-agent-link"))
      const files = yield* readFolder(folder)
      assert.deepStrictEqual(
        files.map(({ bytes, name, sha256 }) => ({ bytes, name, sha256 })),
        ["tocsin-agent-linux-x64", "tocsin-agent_1.deb"].map((name) => ({
          bytes: content.length,
          name,
          sha256: hash("sha256", content),
        })),
      )
      for (const file of files) assert.strictEqual(yield* read(file), content)
      assert.lengthOf(lines, 1)
      assert.include(
        lines[0],
        "tocsin-agent-folder, tocsin-agent-link in SERVICE_AGENT_DIR are not handed out",
      )
    }).pipe(Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])))
  })

  it.effect("gives no package in place of the server's own, and a warning", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const folder = yield* scratch
      writeFileSync(join(folder, "tocsin-agent.tgz"), "other")
      const agent = { version: "1.2.3", installer: "@CHECKSUMS@", tarball: btoa("own") }
      const { files } = yield* makeDownloadFiles(agent, folder)
      assert.strictEqual(files.get("tocsin-agent.tgz")?.sha256, hash("sha256", "own"))
      assert.lengthOf(lines, 1)
      assert.include(lines[0], "tocsin-agent.tgz in SERVICE_AGENT_DIR is not handed out")
    }).pipe(Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])))
  })

  it.effect.each(CHANGES)("gives no file that %s since it was hashed", ([, change]) =>
    Effect.gen(function* () {
      const folder = yield* scratch
      const path = join(folder, "tocsin-agent-linux-x64")
      writeFileSync(path, "content")
      const [file] = yield* readFolder(folder)
      assert.isDefined(file)
      if (file === undefined) return
      assert.strictEqual(yield* read(file), "content")
      change(path)
      assert.strictEqual(yield* read(file), "FileChanged")
    }),
  )

  it.effect("gives no end of a file that changes while it is read", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const folder = yield* scratch
        const path = join(folder, "tocsin-agent-linux-x64")
        writeFileSync(path, "x".repeat(2 * PIECE_BYTES))
        const [file] = yield* readFolder(folder)
        assert.isDefined(file)
        if (file === undefined) return
        const piece = yield* file.open
        assert.lengthOf(yield* piece(0), PIECE_BYTES)
        appendFileSync(path, "more")
        assert.strictEqual((yield* Effect.flip(piece(PIECE_BYTES)))._tag, "FileChanged")
      }),
    ),
  )
})
