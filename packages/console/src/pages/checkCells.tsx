import { signal } from "@preact/signals"
import { headlineOf } from "@tocsin/contract/formats/headline"
import type { AgentRow } from "../state/checkGrid.ts"
import { idOfCheck } from "../state/names.ts"
import { linkTo } from "../state/Route.ts"
import { width } from "../view/Listing.tsx"
import { mutedText, stateClass } from "../view/states.tsx"

type Cell = AgentRow["failing"][number]

/** The last status of a check. */
export const lastText = ({ status }: Pick<Cell, "status">): string =>
  status === null ? "never reported" : `last ${status}`

const stateText = (check: Cell): string =>
  check.state === "late" || check.state === "withdrawn"
    ? `${check.state}, ${lastText(check)}`
    : (check.state ?? lastText(check))

const wordOf = (check: Cell): string => [stateText(check), mutedText(check)].filter(Boolean).join(", ")

const nameOfCell = ({ check_id, title }: Cell): string => title ?? check_id

/** A check of the grid. */
export const drawCell = (check: Cell) => {
  const { agent_id, check_id, late_severity, state, summary: text } = check
  const name = nameOfCell(check)
  return (
    <a
      key={check_id}
      class={`cell ${stateClass(state ?? "pending", late_severity)}${mutedText(check) === undefined ? "" : " muted"}`}
      href={linkTo("checks", [agent_id, check_id])}
      title={`${name === check_id ? "" : `${name}\n`}${idOfCheck(check)}: ${wordOf(check)}${text === undefined ? "" : `\n${headlineOf(text) ?? ""}`}`}
      aria-label={`${name}: ${wordOf(check)}`}
    >
      <span>{name}</span>
    </a>
  )
}

/** The room of the other columns, and the most of all together, by the size of the root's text. */
const [OTHERS, MOST_ROOM] = [44, 104]
/** Room of a cell without its name, of each character of the name, and of the longest name. */
const [CELL, CHARACTER, MOST_NAME] = [2.4, 0.5, 12]

/** The width of the window by the size of the root's text. */
const currentWidth = () => window.innerWidth / parseFloat(getComputedStyle(document.documentElement).fontSize)
const windowWidth = signal(currentWidth())
window.addEventListener("resize", () => (windowWidth.value = currentWidth()))

/** The room of the cells of a row. */
export const roomOfCells = (): number | undefined =>
  width.value === "narrow" ? undefined : Math.min(windowWidth.value, MOST_ROOM) - OTHERS

/** As many cells as have room with their names: cut ones look alike. */
export const cellsIn = (failing: ReadonlyArray<Cell>, room: number | undefined): number => {
  if (room === undefined) return 2
  let left = room
  const over = failing.findIndex((check) => {
    left -= CELL + Math.min(MOST_NAME, nameOfCell(check).length * CHARACTER)
    return left < 0
  })
  return over < 0 ? failing.length : Math.max(1, over)
}
