// The live page: the server sends the pieces of the page that changed, and they are put in place here.
(() => {
  const page = document.querySelector("[data-live]");
  const state = document.querySelector("[data-state]");
  // In milliseconds, longer than two beats of the server: a connection that is silent for this long is dead.
  const SILENCE = 12_000;
  const SOONEST = 1_000, LATEST = 30_000;
  let source = null, heard = 0, again = null, wait = SOONEST, over = false;

  for (const note of document.querySelectorAll("[data-still]")) note.remove();

  function show(word, tone) {
    state.hidden = false;
    if (state.textContent !== word) state.textContent = word;
    state.dataset.tone = tone;
  }

  function connect() {
    clearTimeout(again);
    source?.close();
    if (over || document.hidden) return;
    show("Connecting", "warn");
    heard = Date.now();
    source = new EventSource(page.dataset.live);
    source.onopen = () => { heard = Date.now(); };
    // A refusal ends an EventSource for good, a lost connection does not. Both are tried again here, with backoff.
    source.onerror = () => { show("Not connected", "bad"); source.close(); later(); };
    source.addEventListener("figures", (message) => { live(); apply(JSON.parse(message.data)); });
    source.addEventListener("beat", live);
    source.addEventListener("trouble", () => { heard = Date.now(); show("No figures at the moment", "bad"); });
    source.addEventListener("over", () => { over = true; source.close(); show("Signed out. Reload the page", "bad"); });
  }

  function later() {
    clearTimeout(again);
    again = setTimeout(connect, wait);
    wait = Math.min(wait * 2, LATEST);
  }

  function live() {
    heard = Date.now();
    wait = SOONEST;
    show("Live", "good");
  }

  function apply(news) {
    for (const place of document.querySelectorAll("[data-at]")) place.textContent = news.at;
    for (const place of document.querySelectorAll("[data-settling]")) place.hidden = !news.settling;
    for (const [name, html] of Object.entries(news.pieces)) {
      const place = document.querySelector(`[data-piece="${name}"]`);
      if (!place) continue;
      const fresh = document.createElement("template");
      fresh.innerHTML = html;
      patch(place, fresh.content);
    }
  }

  // Makes `old` like `fresh` and touches only what differs: bars glide, focus stays, and nothing is read out twice.
  function patch(old, fresh) {
    const now = [...old.childNodes], wanted = [...fresh.childNodes];
    wanted.forEach((node, place) => {
      const mine = now[place];
      if (!mine) old.append(node);
      else if (mine.nodeType !== node.nodeType || mine.nodeName !== node.nodeName) mine.replaceWith(node);
      else if (node.nodeType !== Node.ELEMENT_NODE) { if (mine.data !== node.data) mine.data = node.data; }
      else { attributes(mine, node); patch(mine, node); }
    });
    for (const rest of now.slice(wanted.length)) rest.remove();
  }

  function attributes(old, fresh) {
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }

  setInterval(() => { if (source && !document.hidden && !over && Date.now() - heard > SILENCE) { show("Not connected", "bad"); connect(); } }, 1_000);
  // A page in the background needs no connection.
  document.addEventListener("visibilitychange", () => { if (document.hidden) source?.close(); else { wait = SOONEST; connect(); } });
  window.addEventListener("pagehide", () => source?.close());
  window.addEventListener("pageshow", (event) => { if (event.persisted) connect(); });
  connect();
})();
