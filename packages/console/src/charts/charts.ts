// A separate script, which a page loads once it has numbers to draw. To share no module with the page's
// first script, nothing here imports one that the first script has.
export { drawPlot } from "./plot.ts"
export { boundsIn, chartsOf, nearest, rangeOf, readingAt, smallLineOf } from "./series.ts"
export { numberText } from "@tocsin/contract/numberText"
