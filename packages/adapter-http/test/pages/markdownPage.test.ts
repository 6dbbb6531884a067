import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { markdownPage } from "../../src/pages/markdownPage.ts"

const PAGES = new Set(["policy.md", "agent.md"])
const bodyOf = (markdown: string) => /<body>\n([\s\S]*)\n<\/body>/.exec(markdownPage(markdown, PAGES))?.[1]

describe("a page of the documentation as HTML", () => {
  it.each<readonly [name: string, markdown: string, html: string]>([
    [
      "headings with anchors",
      "## Mail: `from`, to\n",
      '<h2 id="mail-from-to">Mail: <code>from</code>, to</h2>',
    ],
    ["a paragraph of lines", "a\nb\n\nc", "<p>a b</p>\n<p>c</p>"],
    [
      "words",
      "**a** and *b* < `c < d` 2 * 3 * 4",
      "<p><strong>a</strong> and <em>b</em> &lt; <code>c &lt; d</code> 2 * 3 * 4</p>",
    ],
    [
      "links to pages beside it",
      "[a](policy.md#b) [c](#d) [e](https://x.example/?f=1&g)",
      '<p><a href="policy.md#b">a</a> <a href="#d">c</a> <a href="https://x.example/?f=1&amp;g">e</a></p>',
    ],
    ["no other links", "[a](rules.md) [b](javascript:alert) ![c](d.png)", "<p>a b c</p>"],
    ["code", "```yaml\na: <b>\n\n# c\n```\nd", "<pre><code>a: &lt;b&gt;\n\n# c</code></pre>\n<p>d</p>"],
    [
      "lists with lists",
      "- a\n  b\n  - c\n- d\n\n1. e\n2. f",
      "<ul><li>a b<ul><li>c</li></ul></li><li>d</li></ul>\n<ol><li>e</li><li>f</li></ol>",
    ],
    [
      "tables",
      "| a | b |\n|---|---|\n| `c` | d \\| e |",
      "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>c</code></td><td>d | e</td></tr></tbody></table>",
    ],
    ["no markup of its own", '<script>"a"</script>', "<p>&lt;script&gt;&quot;a&quot;&lt;/script&gt;</p>"],
  ])("has %s", (_, markdown, html) => {
    assert.strictEqual(bodyOf(markdown), html)
  })

  it("has an anchor for each heading of each page, and no markup that is not closed", () => {
    const docs = new URL("../../../../docs/", import.meta.url)
    for (const name of readdirSync(docs).filter((each) => each.endsWith(".md"))) {
      const markdown = readFileSync(new URL(name, docs), "utf8")
      const html = markdownPage(markdown, PAGES)
      const outside = markdown.replaceAll(/^```[\s\S]*?^```/gm, "")
      const titles = outside.match(/^#{1,6} .*$/gm) ?? []
      assert.lengthOf(html.match(/<h[1-6] id="/g) ?? [], titles.length, name)
      assert.notMatch(html, /<script/, name)
      for (const tag of ["table", "ul", "ol", "pre", "p", "a"])
        assert.lengthOf(
          html.match(new RegExp(`<${tag}[ >]`, "g")) ?? [],
          html.match(new RegExp(`</${tag}>`, "g"))?.length ?? 0,
          `${name}: ${tag}`,
        )
    }
  })
})
