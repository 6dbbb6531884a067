// The image's health check, since the image has no curl: ends with 0 when the server on this machine answers that it is alive.
import { get } from "node:http"
import process from "node:process"

const TIMEOUT_MILLIS = 4_000

/**
 * The addresses that stand for every address of this machine, each with one that can be called.
 * @type {Readonly<Record<string, string>>}
 */
const REACHABLE = { "0.0.0.0": "127.0.0.1", "::": "::1" }

const host = process.env["SERVICE_HOST"]?.trim() || "127.0.0.1"
const port = process.env["SERVICE_PORT"]?.trim() || "8080"

/** @param {string} reason */
const fail = (reason) => {
  process.stdout.write(`${reason}\n`)
  process.exit(1)
}

const request = get(
  { host: REACHABLE[host] ?? host, port, path: "/api/v1/health", agent: false, timeout: TIMEOUT_MILLIS },
  ({ statusCode }) => (statusCode === 200 ? process.exit(0) : fail(`answered with ${statusCode}`)),
)
request.on("timeout", () => fail(`no answer within ${TIMEOUT_MILLIS} ms`))
request.on("error", ({ message }) => fail(message))
