/** Starts the viewer in the page: with the document that its address names, or the first. Plain JavaScript of browsers. */
export const startScript = `
window.onload = () => {
  const links = Array.from(document.querySelectorAll("nav a[data-document]"))
  const wanted = new URLSearchParams(location.search).get("document")
  const chosen = links.find((link) => link.dataset.name === wanted) ?? links[0]
  chosen.setAttribute("aria-current", "page")
  SwaggerUIBundle({
    url: new URL(chosen.dataset.document, location.href).href,
    dom_id: "#viewer",
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
  })
}
`
