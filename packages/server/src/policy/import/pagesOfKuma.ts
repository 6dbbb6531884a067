import { lineIdOf } from "@tocsin/contract/publicPages/PublicPages"
import type { KumaDatabase } from "./kumaDatabase.ts"
import { matchOf, type MovedPolicy, type Taken, titleOf } from "./MovedPolicy.ts"
import { agentOf, isYes, numberOf, textOf } from "./probeOfKuma.ts"

interface Moving {
  readonly moved: MovedPolicy
  readonly database: KumaDatabase
}

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/

const LONGEST_LINE = 63

/** The address of a line of a page: made of its name, unless that is none or another line's. */
const lineId = (usual: string, check: string, used: ReadonlySet<string>): string => {
  const isOpen = (id: string) => id !== "" && id !== "badge" && id.length <= LONGEST_LINE && !used.has(id)
  if (isOpen(usual)) return usual
  const base = check.slice(0, LONGEST_LINE)
  let id = base
  for (let number = 2; !isOpen(id); number++) id = `${base.slice(0, LONGEST_LINE - 5)}-${number}`
  return id
}

/** Takes over a public page with its groups and lines, as far as their checks were taken over. */
export const takePage = (
  { database, moved }: Moving,
  page: Taken,
  checks: ReadonlyMap<unknown, string>,
): void => {
  const title = titleOf(page["title"])
  const slug = textOf(page["slug"]).toLowerCase()
  if (!isYes(page["published"])) return moved.leave(title, "the page, which is not published")
  if (!SLUG.test(slug)) return moved.leave(title, `the page, whose name ${slug} cannot be that of a page`)
  const byWeight = (a: Taken, b: Taken): number => numberOf(a["weight"]) - numberOf(b["weight"])
  const used = new Set<string>()
  const groups = database.group
    .filter((one) => one["status_page_id"] === page["id"])
    .toSorted(byWeight)
    .map((group) => ({
      title: titleOf(group["name"]) || "Services",
      lines: database.monitor_group
        .filter((one) => one["group_id"] === group["id"])
        .toSorted(byWeight)
        .flatMap((one) => {
          const check = checks.get(one["monitor_id"])
          const monitor = database.monitor.find(({ id }) => id === one["monitor_id"])
          if (check === undefined || monitor === undefined) return []
          if (isYes(one["send_url"])) moved.leave(monitor["name"], `its link on the page ${title}`)
          const name = titleOf(monitor["name"]) || check
          const usual = lineIdOf({ name })
          const id = lineId(usual, check, used)
          used.add(id)
          return [{ name, ...(id !== usual && { id }), match: matchOf(check, agentOf(monitor)) }]
        }),
    }))
    .filter(({ lines }) => lines.length > 0)
  if (groups.length === 0) return moved.leave(title, "the page, which has no monitor that is taken over")
  if (textOf(page["password"]) !== "") moved.leave(title, "the password of the page")
  for (const [column, words] of [
    ["custom_css", "the style of the page"],
    ["footer_text", "the footer of the page"],
    ["description", "the description of the page"],
    ["google_analytics_tag_id", "the analytics of the page"],
    ["analytics_id", "the analytics of the page"],
  ] as const)
    if (textOf(page[column]) !== "") moved.leave(title, words)
  if (isYes(page["show_tags"])) moved.leave(title, "the tags on the page")
  if (database.status_page_cname.some((one) => one["status_page_id"] === page["id"]))
    moved.leave(title, "the domain names of the page")
  moved.page(slug, { title: title || slug, groups })
}
