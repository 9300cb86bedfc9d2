// The preview of the card page follows what is typed; and the size of a logo is checked before it is uploaded.

const at = (id) => document.getElementById(id);

// As gatepass/domain/card_look/colour.py: white ink where its contrast is 4.5 or more, else black.
function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((start) => {
    const part = parseInt(colour.slice(start, start + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5 ? "#ffffff" : "#000000";
}

function shortened(text) {
  return text.length > 52 ? `${text.slice(0, 51)}…` : text;
}

function preview() {
  const name = at("f-shows_name-true").checked;
  const colour = at("f-colour").value;
  at("p-band").setAttribute("fill", colour);
  at("p-organizer").setAttribute("fill", inkOn(colour));
  at("p-line").textContent = shortened(at("f-line").value);
  at("p-name").setAttribute("visibility", name ? "visible" : "hidden");
  at("p-pass").setAttribute("height", name ? 300 : 276);
  at("p-code").setAttribute("transform", `translate(70 ${name ? 104 : 84})`);
  at("p-number").setAttribute("y", name ? 312 : 292);
  at("p-note").setAttribute("y", name ? 336 : 316);
}

document.addEventListener("input", preview);
document.addEventListener("change", (event) => {
  const field = event.target;
  if (!field.matches("[data-most]")) return;
  const tooLarge = field.files[0] && field.files[0].size > Number(field.dataset.most);
  field.setCustomValidity(tooLarge ? "The picture is larger than 256 kB." : "");
  field.reportValidity();
});
if (at("f-colour")) preview();
