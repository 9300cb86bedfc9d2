// Upload a file with a progress bar, and follow an import while it runs. Both pages work without JavaScript.

for (const form of document.querySelectorAll("form[data-upload]")) {
  form.addEventListener("submit", (event) => {
    const file = form.querySelector("input[type=file]").files[0];
    if (!file) return;
    event.preventDefault();
    const sending = form.querySelector("[data-sending]");
    const bar = sending.querySelector("progress");
    const words = sending.querySelector("[data-words]");
    const button = form.querySelector("footer button");
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
        const message = page.querySelector("#e-file, main p, p");
        words.textContent = message ? message.textContent : "The file was refused.";
        words.className = "wrong";
        button.disabled = false;
        const fresh = page.querySelector("input[name=upload_key]");
        if (fresh) for (const key of document.querySelectorAll("input[name=upload_key]")) key.value = fresh.value;
      }
    });
    call.addEventListener("error", () => {
      words.textContent = "The upload broke off. Load this page anew and try again.";
      words.className = "wrong";
      button.disabled = false;
    });
    sending.hidden = false;
    words.className = "hint num";
    button.disabled = true;
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
