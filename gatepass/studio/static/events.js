// Event times in the viewer's own time zone, and a check of the size of a picture before it is uploaded.

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
const written = new Intl.DateTimeFormat("en-GB", {
  weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
});

function showViewersTime(root) {
  for (const place of root.querySelectorAll("[data-viewer][hidden]")) {
    if (!here || here === "UTC" || place.dataset.zone === here) continue;
    const words = `${written.format(new Date(place.dataset.viewer))} for you, in ${here}`;
    place.textContent = place.tagName === "SPAN" && place.closest("p") ? ` · ${words}` : words;
    place.hidden = false;
  }
}

document.addEventListener("DOMContentLoaded", () => {
  showViewersTime(document);
  // A new event is most likely in the time zone of its organizer.
  const zone = document.querySelector("[data-own-zone]");
  if (zone && zone.value === "UTC" && here && here !== "UTC" && document.querySelector(`#time-zones option[value="${here}"]`)) {
    zone.value = here;
    zone.dispatchEvent(new Event("change", { bubbles: true }));
  }
});
document.addEventListener("htmx:after:swap", () => showViewersTime(document));

document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.matches("[data-most]")) {
    const tooLarge = field.files[0] && field.files[0].size > Number(field.dataset.most);
    field.setCustomValidity(tooLarge ? "The picture is larger than 2 MB." : "");
    field.reportValidity();
  }
});
