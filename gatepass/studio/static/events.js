// Event times in the viewer's own time zone, a button that fills in when the doors open, and a check of the size of a
// picture before it is uploaded.

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
// Fill in when the doors open: so many minutes before the start, by the clock on the wall.
for (const button of document.querySelectorAll("[data-doors]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const field = (name) => document.getElementById(`f-${name}`);
    const start = new Date(`${field("starts_date").value}T${field("starts_time").value}Z`);
    if (Number.isNaN(start.getTime())) return;
    const doors = new Date(start - button.dataset.doors * 60000).toISOString();
    field("doors_open_date").value = doors.slice(0, 10);
    field("doors_open_time").value = doors.slice(11, 16);
    field("doors_open_time").dispatchEvent(new Event("change", { bubbles: true }));
  });
}

document.addEventListener("htmx:after:swap", () => showViewersTime(document));

document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.matches("[data-most]")) {
    const tooLarge = field.files[0] && field.files[0].size > Number(field.dataset.most);
    field.setCustomValidity(tooLarge ? "The picture is larger than 2 MB." : "");
    field.reportValidity();
  }
});
