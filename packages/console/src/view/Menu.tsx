import { countText } from "../format/times.ts"
import { groupsFor, titleOfPage } from "../state/keys.ts"
import { MOST, SEVERITIES } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { mayAdminister } from "../state/session.ts"
import { summary, unacknowledged } from "../state/summary.ts"
import { Icon } from "./icons.tsx"
import { openPanel } from "./Keyboard.tsx"

/** The counts of what waits for people, by page; those of incidents are as bad as the worst open one. */
const waitingCounts = (): Readonly<
  Record<string, readonly [count: number, noun: string, kind?: string | undefined]>
> => {
  const { dead_letters: letters = 0, incidents, waiting_keys: keys = 0 } = summary.value ?? {}
  const worst = SEVERITIES.find((severity) => (incidents?.[severity] ?? 0) > 0)
  return {
    incidents: [unacknowledged.value ?? 0, "unacknowledged incident", worst],
    admission: [keys, "pending key"],
    outbox: [letters, "failed notification", "failed"],
  }
}

/** The pages by groups. On a narrow screen, a way also to the page that is open closes the menu. */
export const Menu = () => {
  const { page: current } = route.value
  const waits = waitingCounts()
  return (
    <nav aria-label="Pages" onClick={() => openPanel()?.hidePopover()}>
      {groupsFor(mayAdminister.value).map(([group, pages]) => (
        <div key={group} class="group" role="group" aria-label={group}>
          <p aria-hidden="true">{group}</p>
          {pages.map(([page]) => {
            const [count, noun, kind] = waits[page] ?? [0, ""]
            return (
              <a
                key={page}
                href={linkTo(page)}
                title={count === 0 ? undefined : countText(count, noun)}
                aria-current={current === page ? "page" : undefined}
              >
                <Icon name={page} />
                {titleOfPage(page)}
                {count > 0 && (
                  <span class={kind === undefined ? "count" : `count is-${kind}`} aria-hidden="true">
                    {count < MOST ? count : `${MOST}+`}
                  </span>
                )}
              </a>
            )
          })}
        </div>
      ))}
    </nav>
  )
}
