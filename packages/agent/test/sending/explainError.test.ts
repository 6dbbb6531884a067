import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { request } from "node:http"
import { createServer } from "node:net"
import { explainError } from "../../src/sending/explainError.ts"

/** The words for a request that these bytes answer. */
const wordsFor = async (answer: string, isLenient: boolean, isQuoted = true) => {
  const bytes = Buffer.from(answer, "latin1")
  const server = createServer((socket) =>
    socket.on("error", () => {}).once("data", () => socket.end(bytes)),
  ).listen(0, "127.0.0.1")
  await once(server, "listening")
  const bound = server.address()
  const port = typeof bound === "object" ? (bound?.port ?? 0) : 0
  const sent = request({ host: "127.0.0.1", port, agent: false, insecureHTTPParser: isLenient }).end()
  const [error] = await once(sent, "error")
  server.close()
  return explainError(error, isQuoted)
}

const OK = "HTTP/1.1 200 OK\r\n"

describe("the words for an answer that cannot be read", () => {
  it.each([
    ["SSH-2.0-OpenSSH_9.6\r\n", 'the answer is not HTTP: it begins with "SSH-2.0-OpenSSH_9.6"'],
    ["<html>well</html>", 'the answer is not HTTP: it begins with "<html>well</html>"'],
    ["\u0015\u0003\u0001\u0000\u0002\u0002F", "the answer is not HTTP: it begins with "],
    ["HTTP/2 200 OK\r\n\r\n", 'it begins with "HTTP/2 200 OK"'],
    ["HTTP/1.1 2000 OK\r\n\r\n", 'it begins with "HTTP/1.1 2000 OK"'],
    ["a".repeat(1_000), `it begins with "${"a".repeat(40)}"`],
    [`${OK}A: b\r\nnonsense\r\n\r\n`, 'a line of the answer is no header field: "nonsense"'],
    [`${OK}: b\r\n\r\n`, 'a line of the answer is no header field: ": b"'],
    [`${OK}A: b\r\nX-A: a\rb\r\n\r\n`, "the header field X-A holds a control character"],
    [`${OK}X-A: a\r\r\n\r\n`, "the header field X-A holds a control character"],
    [
      `${OK}Content-Length: 4\r\ncontent-length:5\r\n\r\n`,
      "the answer has more than one Content-Length: 4, 5",
    ],
    [`${OK}Content-Length: 4, 5\r\n\r\n`, 'the answer has a Content-Length that is no number: "4, 5"'],
    [`${OK}Content-Length: -1\r\n\r\n`, 'the answer has a Content-Length that is no number: "-1"'],
    [`${OK}Content-Length:\r\n\r\n`, 'the answer has a Content-Length that is no number: ""'],
    [`${OK}${"X: a\r\n".repeat(9_000)}\r\n`, "the header fields of the answer are too long"],
    ["", "the connection was closed without an answer"],
    [`${OK}X: y`, "the connection was closed without an answer"],
  ])("%j: %s", async (answer, words) => {
    for (const isLenient of [false, true]) assert.include(await wordsFor(answer, isLenient), words)
  })

  it.each([
    "secret\r\n",
    "HTTP/2 200 secret\r\n\r\n",
    `${OK}A: b\r\nsecret\r\n\r\n`,
    `${OK}secret: a\rb\r\n\r\n`,
    `${OK}Content-Length: secret\r\n\r\n`,
    `${OK}Content-Length: 4\r\nContent-Length: secret\r\n\r\n`,
  ])("%j: quotes nothing of it for a watch", async (answer) => {
    for (const isLenient of [false, true])
      assert.notInclude(await wordsFor(answer, isLenient, false), "secret")
  })

  it.each([
    [`${OK}Set-Cookie: a=\u0001b\r\n\r\n`, "the header field Set-Cookie holds a control character"],
    [`${OK}X: \0\r\n\r\n`, "the header field X holds a control character"],
    [
      `${OK}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n`,
      "the answer has both Content-Length and Transfer-Encoding",
    ],
    [
      `${OK}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n`,
      "the answer has both Content-Length and Transfer-Encoding",
    ],
  ])("%j, read strictly: %s", async (answer, words) => {
    assert.strictEqual(await wordsFor(answer, false), words)
  })
})
