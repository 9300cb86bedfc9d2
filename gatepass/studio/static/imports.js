// Upload a file with a progress bar, and follow an import while it runs. Both pages work without JavaScript.

for (const form of document.querySelectorAll("form[data-upload]")) {
  const field = form.querySelector("input[type=file]");
  const sending = form.querySelector("[data-sending]");
  const bar = sending.querySelector("progress");
  const words = sending.querySelector("[data-words]");
  const button = form.querySelector("footer button");

  const show = (text, isRefusal) => {
    sending.hidden = false;
    bar.hidden = isRefusal;
    words.textContent = text;
    words.className = isRefusal ? "wrong" : "hint num";
    button.disabled = !isRefusal;
    if (isRefusal) {
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", words.id);
      field.focus();
    }
  };

  field.addEventListener("change", () => {
    if (!bar.hidden) return;
    sending.hidden = true;
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  });

  form.addEventListener("submit", (event) => {
    if (!field.files[0]) return;
    event.preventDefault();
    const call = new XMLHttpRequest();
    call.open("POST", form.action);
    call.upload.addEventListener("progress", (sent) => {
      if (!sent.lengthComputable) return;
      bar.value = sent.loaded / sent.total;
      words.textContent = `${(sent.loaded / 1048576).toFixed(1)} of ${(sent.total / 1048576).toFixed(1)} MB sent`;
    });
    call.addEventListener("load", () => {
      if (call.status < 400 && call.responseURL) location.assign(call.responseURL);
      else {
        const page = new DOMParser().parseFromString(call.responseText, "text/html");
        // The form again, with its error; or a page that is nothing but an error. The menu has paragraphs too.
        const message = page.querySelector("#e-file") ?? page.querySelector("main p");
        show(message ? message.textContent : "The file was refused.", true);
        const fresh = page.querySelector("input[name=upload_key]");
        if (fresh) for (const key of document.querySelectorAll("input[name=upload_key]")) key.value = fresh.value;
      }
    });
    call.addEventListener("error", () => show("The upload broke off. Reload this page and try again.", true));
    show("Sending…", false);
    call.send(new FormData(form));
  });
}

for (const box of document.querySelectorAll("[data-progress]")) {
  const bar = box.querySelector("progress");
  const words = box.querySelector("[data-words]");
  let state = null;
  const stream = new EventSource(box.dataset.progress);
  stream.addEventListener("message", (event) => {
    const now = JSON.parse(event.data);
    if (!now.under_way || (state && state !== now.state)) {
      stream.close();
      location.reload();
      return;
    }
    state = now.state;
    bar.value = now.share;
    const counted = (count) => count.toLocaleString("en");
    const parts = [`${Math.floor(now.share * 100)} % of ${counted(now.rows)} rows`];
    if (state === "receiving") parts[0] = `${counted(now.rows)} rows received`;
    if (state === "checking" && now.faulty) parts.push(`${counted(now.faulty)} cannot be imported`);
    if (state === "applying") parts.push(`${counted(now.made)} tickets made`);
    if (state === "undoing") parts.push(`${counted(now.removed)} tickets removed`);
    words.textContent = parts.join(" · ");
  });
}
