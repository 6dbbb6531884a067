/** The bar above the viewer, with the documents to choose from. */
export const viewerStyle = `
body { margin: 0; background: #fff; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; padding: 0.75rem 1.5rem; background: #1b2733; font: 600 0.95rem/1.5 system-ui, sans-serif; }
nav a { color: #c9d6e2; text-decoration: none; border-bottom: 2px solid transparent; }
nav a:hover, nav a:focus-visible { color: #fff; }
nav a[aria-current] { color: #fff; border-color: #ffb454; }
nav .name { color: #fff; margin-right: auto; }
.no-script { padding: 1.5rem; font: 1rem/1.5 system-ui, sans-serif; }
`
