import { assert, describe, it } from "@effect/vitest"
import { htmlText } from "../src/htmlText.ts"
import { mailAsSent, parseMail } from "../src/parseMail.ts"

const textOf = async (...lines: ReadonlyArray<string>): Promise<string> => {
  const { text } = await parseMail(new TextEncoder().encode(lines.join("\r\n")))
  return text.trim()
}

describe("the text of a mail", () => {
  it.each(["text", "plain", "", "TEXT/PLAIN; charset=UTF-8", "text/plain;; charset=utf-8"])(
    "is plain where the type is stated as %j",
    async (type) => {
      assert.strictEqual(await textOf(`Content-Type: ${type}`, "", "Büro"), "Büro")
    },
  )

  it("is the first plain part that is neither blank nor attached, else the HTML", async () => {
    const parts = (...given: ReadonlyArray<string>) =>
      textOf(
        "Content-Type: multipart/mixed; boundary=B",
        "",
        ...given.flatMap((one) => ["--B", one]),
        "--B--",
      )
    const html = "Content-Type: text/html\r\n\r\n<p>html"
    const attached = "Content-Disposition: ATTACHMENT; filename=a\r\n\r\nattached"
    assert.strictEqual(await parts(html, attached, "\r\n  ", "\r\nfirst", "\r\nsecond"), "first")
    assert.strictEqual(await parts(attached, "\r\n \t", html), "html")
  })
})

describe("a mail of parts without a boundary", () => {
  it("cannot be read, and counts as it was sent", async () => {
    const mail = new TextEncoder().encode("Content-Type: multipart/mixed\r\n\r\n--B\r\n\r\ntext\r\n")
    const error = await parseMail(mail).catch(String)
    assert.strictEqual(error, "Error: no part begins")
    assert.strictEqual(mailAsSent(mail, "").text.trim(), "--B\n\ntext")
  })
})

describe("HTML as text", () => {
  it.each([
    ["<div>a</div><div>b</div>", "a\nb"],
    ["<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"],
    ["a<br><br>b<p>c</p><br><p>d", "a\n\nb\nc\n\nd"],
    ["<a title=\"a > b\" href='x>y'>link</a> 1 < 2 > 0", "link 1 < 2 > 0"],
    ['<a title="open>link', "link"],
    ["<title>t</title><style>s</style><!-- > -->&auml;&#228;&lt;b&gt;&nbsp;&nope;", "ää<b> &nope;"],
    ["&Alpha;&hearts;&AMP;&vert;&minus;&hyphen;&NewLine;a&nbsp;&ensp;b&shy;c&copy;", "Α♥&|−‐\na bc©"],
  ])("%s is %j", async (html, text) => {
    assert.strictEqual(await htmlText(html), text)
  })
})
