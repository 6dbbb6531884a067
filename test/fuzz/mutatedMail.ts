import { Buffer } from "node:buffer"
import type { Draw } from "./Draw.ts"

/** A mail as text, of which each character is a byte. */
type Mutation = (mail: string, draw: Draw, other: string) => string

const TOKENS = [
  "\r\n", "\n", "\r", "\0", " ", "\t", ":", ";", "=", "=\r\n", "=3D", "=?", "?=", "=?utf-8?q?", "=?utf-8?b?", "?Q?",
  "--", "\r\n--", "<", ">", "&#x41;", "&amp;", "<!--", "<script>", "\"", "\\", "(", "((((((((", ")", "[", "@", ",",
  "\xff", "\xc0\x80", "\xed\xa0\x80", "\xef\xbb\xbf", "\x1b$B", "+AGE-", "\x1f\x8b\x08", "\r\n.\r\n", "in_abcdefghijklmnopqrstuvwxyz",
] as const // oxfmt-ignore

const FIELDS = [
  "Content-Type: multipart/mixed; boundary=B",
  'Content-Type: multipart/alternative; boundary="B"',
  "Content-Type: multipart/report; report-type=delivery-status; boundary=B",
  "Content-Type: multipart/encrypted; boundary=B",
  "Content-Type: multipart/mixed",
  "Content-Type: message/rfc822",
  "Content-Type: message/delivery-status",
  "Content-Type: text/html; charset=utf-16",
  "Content-Type: text/plain; charset=nonsense; format=flowed; delsp=yes",
  "Content-Type: text/plain; charset*0=utf; charset*1=-8",
  'Content-Type: application/octet-stream; name=""',
  "Content-Transfer-Encoding: base64",
  "Content-Transfer-Encoding: quoted-printable",
  "Content-Transfer-Encoding: 7bit",
  "Content-Disposition: attachment; filename*=utf-8''%",
  "Subject:",
  "Subject: =?x?q?=?= =?utf-8?b?//8=?= =?iso-2022-jp?B?GyRC?=",
  'From: <<<<@>>>>, "a\\" <b@c>',
  "From: root",
  "Date: Thu, 99 Foo 99999 99:99:99 +9999",
  "Auto-Submitted: auto-replied",
  "List-Id: <tocsin.x>",
  "X-Mailer: Monit 5.33",
  "Message-ID: <a@b>",
] as const

const cutAt = (mail: string, draw: Draw): number => draw.below(mail.length + 1)

const inserted = (mail: string, at: number, part: string): string => mail.slice(0, at) + part + mail.slice(at)

const bodyAt = (mail: string): number => {
  const blank = /\r?\n\r?\n/.exec(mail)
  return blank === null ? mail.length : blank.index + blank[0].length
}

/** So often that a mail reaches the size of which no more is held. */
const OFTEN = [2, 2, 10, 10, 10, 100, 100, 1_000, 20_000, 200_000] as const

const inPart: Mutation = (mail, draw) => {
  const depth = draw.oneOf([1, 2, 3, 10, 30, 300, 3_000])
  const boundary = draw.oneOf(["B", "b b", "'", "=_", "x".repeat(200)])
  let head = ""
  for (let n = 0; n < depth; n++)
    head += `Content-Type: multipart/mixed; boundary="${boundary}${n}"\r\n\r\n--${boundary}${n}\r\n`
  return head + mail
}

const manyParts: Mutation = (mail, draw) => {
  const field = draw.oneOf(FIELDS)
  const count = draw.oneOf([2, 3, 5, 50, 50, 5_000, 20_000])
  return `Subject: parts failed\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n${`--B\r\n${field}\r\n\r\nx\r\n`.repeat(count)}--B\r\n${mail}\r\n--B--\r\n`
}

const encodedBody: Mutation = (mail, draw) => {
  const at = bodyAt(mail)
  const body = Buffer.from(mail.slice(at), "latin1").toString("base64")
  const cut = body.slice(0, draw.below(body.length + 1))
  return `Content-Transfer-Encoding: base64\r\n${mail.slice(0, at)}${draw.below(2) === 0 ? body : `${cut}=${body}`}`
}

const html: Mutation = (mail, draw) => {
  const part = draw.oneOf([
    "<p>",
    "<",
    "<!",
    "<!--",
    '<a href="',
    "<script",
    "</title",
    "&#",
    "&Alpha;",
    "<td\t",
    "<br ='",
  ])
  const at = bodyAt(mail)
  return `Content-Type: text/html\r\n${mail.slice(0, at)}${part.repeat(draw.oneOf(OFTEN))}${mail.slice(at)}`
}

const MUTATIONS: readonly [Mutation, ...ReadonlyArray<Mutation>] = [
  (mail, draw) => {
    const at = draw.below(mail.length + 1)
    return mail.slice(0, at) + String.fromCodePoint(draw.below(256)) + mail.slice(at + 1)
  },
  (mail, draw) => inserted(mail, cutAt(mail, draw), draw.oneOf(TOKENS)),
  (mail, draw) => inserted(mail, cutAt(mail, draw), draw.oneOf(TOKENS).repeat(draw.oneOf(OFTEN))),
  (mail, draw) => `${draw.oneOf(FIELDS)}\r\n${mail}`,
  (mail, draw) => inserted(mail, cutAt(mail, draw), `\r\n${draw.oneOf(FIELDS)}\r\n`),
  (mail, draw) => `${`${draw.oneOf(FIELDS)}\r\n`.repeat(draw.oneOf([2, 5, 100, 3_000, 20_000]))}${mail}`,
  (mail, draw) =>
    `${draw.oneOf(["Subject:", "From:", "X:", "Content-Type: text/plain;"])}${draw
      .oneOf([" a", "\r\n a", "=?utf-8?q?a?= ", "(", ", <a@b>", ' x="y";'])
      .repeat(draw.oneOf(OFTEN))}\r\n${mail}`,
  (mail, draw) => {
    const from = cutAt(mail, draw)
    return mail.slice(0, from) + mail.slice(from + 1 + draw.below(64))
  },
  (mail, draw) => {
    const from = cutAt(mail, draw)
    return inserted(mail, from, mail.slice(from, from + 1 + draw.below(512)))
  },
  (mail, draw) => mail.slice(0, cutAt(mail, draw)),
  (mail, draw, other) => mail.slice(0, cutAt(mail, draw)) + other.slice(cutAt(other, draw)),
  (mail) => mail.replaceAll("\r\n", "\n"),
  (mail) => mail.replaceAll("\n", "\r"),
  inPart,
  manyParts,
  encodedBody,
  html,
]

const MOST = 1_500_000

/** A mail of a corpus with up to four changes, as SMTP carries it. */
export const mutatedMail = (corpus: ReadonlyArray<string>, draw: Draw): Buffer => {
  const any = (): string => corpus[draw.below(corpus.length)] ?? ""
  let mail = any()
  for (let left = 1 + draw.below(4); left > 0; left -= 1)
    mail = draw.oneOf(MUTATIONS)(mail, draw, any()).slice(0, MOST)
  const carried = mail.replaceAll(/^\./gm, "..").replaceAll("\r\n.\r\n", "\r\n..\r\n")
  return Buffer.from(`${carried}\r\n.\r\n`, "latin1")
}
