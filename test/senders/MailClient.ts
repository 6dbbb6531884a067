import { connect } from "node:net"
import { Effect } from "effect"

/** Ends a mail. */
const DOT = "\r\n.\r\n"

/** A mail as SMTP carries it. */
export const onTheWire = (mail: string): string =>
  `${mail.replaceAll(/\r?\n/g, "\r\n").replaceAll(/^\./gm, "..")}${DOT}`

const REPLY = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/

/**
 * Says lines to a server one after another, each once the one before is answered, and returns all replies, the greeting
 * first. Stops where the server ends the connection.
 */
export const say = (port: number, lines: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.callback((resume) => {
    const socket = connect(port, "127.0.0.1")
    const replies: Array<string> = []
    let received = ""
    let said = 0
    socket.on("data", (chunk) => {
      received += String(chunk)
      for (let reply = REPLY.exec(received); reply !== null; reply = REPLY.exec(received)) {
        replies.push(reply[0].trim())
        received = received.slice(reply[0].length)
        const line = lines[said]
        said += 1
        if (line === undefined) socket.end()
        else socket.write(line.endsWith(DOT) ? line : `${line}\r\n`)
      }
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(replies)))
  })

/** Sends a mail, and returns the reply to it. */
export const sendMail = (port: number, to: ReadonlyArray<string>, mail: string, from = "root@vm") =>
  Effect.map(
    say(port, [
      "EHLO vm",
      `MAIL FROM:<${from}>`,
      ...to.map((one) => `RCPT TO:<${one}>`),
      "DATA",
      onTheWire(mail),
    ]),
    (replies) => replies.slice(3 + to.length + 1),
  )
