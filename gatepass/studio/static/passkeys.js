// Passkeys (WebAuthn). A button with data-passkey loads the options from data-options, calls the authenticator, and posts
// its answer with the form.

const SENTENCES = {
  NotAllowedError: "That was cancelled, or took too long. Try again.",
  InvalidStateError: "This device has a passkey for you already.",
  SecurityError: "Passkeys do not work at this address. Open the studio at its own address.",
  NotSupportedError: "This device cannot make a passkey that works here.",
};

const toBytes = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const withBytes = (list) => (list || []).map((one) => ({ ...one, id: toBytes(one.id) }));

// Conditional mediation: the e-mail field waits for a passkey in the background; a click ends that wait.
let waiting = null;
// Only the first answer is posted.
let answered = false;

async function optionsFor(button) {
  const answer = await fetch(button.dataset.options, {
    method: "POST",
    body: new URLSearchParams(new FormData(button.form)),
    headers: { Accept: "application/json" },
  });
  if (answer.redirected) {
    window.location.assign(answer.url);
    return null;
  }
  const options = await answer.json();
  if (!answer.ok) throw new Error(options.error);
  options.challenge = toBytes(options.challenge);
  if (options.user) options.user.id = toBytes(options.user.id);
  options.excludeCredentials = withBytes(options.excludeCredentials);
  options.allowCredentials = withBytes(options.allowCredentials);
  return options;
}

function plain(credential) {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
    if (credential.response[name]) response[name] = toText(credential.response[name]);
  return JSON.stringify({ id: credential.id, rawId: toText(credential.rawId), type: credential.type, response });
}

async function perform(button, more) {
  const publicKey = await optionsFor(button);
  if (!publicKey) return;
  const ask = button.dataset.passkey === "create" ? "create" : "get";
  const credential = await navigator.credentials[ask]({ publicKey, ...more });
  if (answered) return;
  answered = true;
  button.form.elements.answer.value = plain(credential);
  if (button.hasAttribute("formaction")) button.form.action = button.formAction;
  button.form.submit();
}

function tell(button, sentence) {
  const place = button.form.querySelector("[data-passkey-told]");
  place.textContent = sentence;
  place.hidden = !sentence;
}

async function clicked(button) {
  waiting?.abort();
  waiting = null;
  tell(button, "");
  button.disabled = true;
  try {
    await perform(button, {});
  } catch (error) {
    tell(button, SENTENCES[error.name] || error.message || "Something went wrong. Try again.");
  } finally {
    button.disabled = false;
  }
}

async function waitInTheField(button) {
  if (!(await window.PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  waiting = new AbortController();
  try {
    await perform(button, { mediation: "conditional", signal: waiting.signal });
  } catch {
    // Nobody chose one. The button and the password are still there.
  }
}

document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("[data-passkey]")) {
    if (!window.PublicKeyCredential) {
      tell(button, "This browser has no passkeys.");
      continue;
    }
    button.hidden = false;
    button.addEventListener("click", () => clicked(button));
    if ("conditional" in button.dataset) waitInTheField(button);
  }
});
