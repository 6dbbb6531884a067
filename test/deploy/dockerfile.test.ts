import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { dockerfileFaults } from "./dockerfileFaults.ts"

const original = readFileSync("Dockerfile", "utf8")

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tocsin-dockerfile-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The faults of the Dockerfile with a change in it. */
const faultsWith = (pattern: string | RegExp, replacement: string): ReadonlyArray<string> => {
  const changed = original.replace(pattern, replacement)
  assert.notStrictEqual(changed, original, `${pattern} is not in the Dockerfile`)
  const path = join(folder, "Dockerfile")
  writeFileSync(path, changed)
  return dockerfileFaults(path)
}

describe("the Dockerfile", () => {
  it("has no fault", () => {
    assert.deepStrictEqual(dockerfileFaults("Dockerfile"), [])
  })

  it.each([
    [/24\.\d+\.\d+-bookworm/, "latest", "a base image has no version for its tag"],
    ["FROM node:", "FROM registry.example/node:", "a base image names a registry"],
    ["FROM node:24", "FROM node:23", "the image has another Node.js than the tests"],
    ["FROM scratch", "FROM debian:12.15", "the last stage brings more than what is copied into it"],
    ["USER 10001:10001", "USER node", "USER is not the numbers of an unprivileged user and group"],
    [
      'ENTRYPOINT ["tocsin"]',
      "ENTRYPOINT tocsin",
      "ENTRYPOINT is not in exec form, so that signals would reach a shell",
    ],
    [
      'CMD ["node", "/tocsin/health.mjs"]',
      "CMD node /tocsin/health.mjs",
      "HEALTHCHECK is missing, or not in exec form",
    ],
    [
      'CMD ["node", "/tocsin/health.mjs"]',
      'CMD ["curl", "http://localhost"]',
      "HEALTHCHECK needs a program that the image has not",
    ],
    [
      "STOPSIGNAL SIGTERM",
      "STOPSIGNAL SIGQUIT",
      "STOPSIGNAL is not the one that the server finishes its work at",
    ],
    ["SERVICE_DATA_DIR=/data", "SERVICE_DATA_DIR=/state", "the data folder is no volume"],
    ["EXPOSE 8080", "EXPOSE 80", "the port that the server listens on is not exposed"],
    ["--chown=10001:10001 ", "", "the data folder is not its user's"],
    [
      "SERVICE_PORT=8080",
      "SERVICE_PORT=8080 SERVICE_AUTH_TOKEN=token",
      "a secret is in the image's environment",
    ],
    [
      /image\.version="[^"]*"/,
      'image.version="0"',
      "the labels do not tell the version and the licence of package.json",
    ],
    ["EXPOSE 8080", "EXPOSE eighty", "Invalid containerPort: eighty"],
  ])("would have one with %s as %s", (pattern, replacement, fault) => {
    assert.include(faultsWith(pattern, replacement).join("\n"), fault)
  })

  it("sends the builder what it needs, without data or secrets", () => {
    const [first, ...rest] = readFileSync(".dockerignore", "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
    assert.strictEqual(first, "*")
    const sent = rest.filter((line) => line.startsWith("!")).map((line) => line.slice(1))
    assert.deepStrictEqual(
      sent.filter((path) => !existsSync(path)),
      [],
    )
    const workspaces = ["bench", "examples", "test"].map((name) => `${name}/package.json`)
    assert.includeMembers(sent, [
      "package-lock.json",
      "packages",
      "scripts",
      "deploy/container",
      ...workspaces,
    ])
    assert.includeMembers(rest, ["**/node_modules", "**/dist"])
  })
})
