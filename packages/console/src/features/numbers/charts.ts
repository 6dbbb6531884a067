// A separate script, which a page loads once it has numbers to draw. What it shares with the pages is in the first one.
export { chartsOf, smallLineOf } from "./series.ts"
export { Chart } from "../../view/Chart.tsx"
export { numberText } from "@tocsin/contract/formats/numberText"
