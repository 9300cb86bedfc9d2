// Copy buttons, menus and keyboard shortcuts. Every page works without them.

// Copy buttons are shown only where they work.
function showCopyButtons(root) {
  for (const button of root.querySelectorAll("[data-copy][hidden]")) button.hidden = !navigator.clipboard;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) {
    await navigator.clipboard.writeText(button.dataset.copy);
    const label = button.getAttribute("aria-label");
    button.setAttribute("aria-label", "Copied");
    button.dataset.copied = "";
    setTimeout(() => { button.setAttribute("aria-label", label); delete button.dataset.copied; }, 2000);
    return;
  }
  // A click outside a menu closes it.
  for (const menu of document.querySelectorAll("details[open]:has(> .menu-panel)"))
    if (!menu.contains(event.target)) menu.open = false;
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape")
    for (const menu of document.querySelectorAll("details[open]:has(> .menu-panel)")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
    const field = document.querySelector("[data-palette]");
    if (field) { event.preventDefault(); field.focus(); field.select(); }
  }
});

// An error is about what was sent: it goes when its field is changed, and the one above the form with the last of them.
document.addEventListener("input", ({ target: field }) => {
  const described = field.getAttribute("aria-describedby");
  if (field.getAttribute("aria-invalid") !== "true" || !described?.startsWith("e-")) return;
  for (const one of document.querySelectorAll(`[aria-describedby="${described}"]`)) {
    one.removeAttribute("aria-invalid");
    one.removeAttribute("aria-describedby");
  }
  document.getElementById(described)?.remove();
  if (!document.querySelector("main [aria-invalid=true], main p.wrong")) document.querySelector("main [data-complaint]")?.remove();
});

document.addEventListener("DOMContentLoaded", () => showCopyButtons(document));
document.addEventListener("htmx:after:swap", () => showCopyButtons(document));
