// A card comes to this phone, or leaves it: buttons, the twelve digits of a mail, and the camera of the other phone.

import { post } from "./server.js";
import * as view from "./view.js";

const at = (id) => document.getElementById(id);
// The proof in a request is of this moment; the server takes it for a minute.
const REQUEST_RENEWED = 20_000;

export function followMoves(card) {
  onPress("keep-button", () => keep(card));
  onPress("remove", () => remove(card));
  onPress("mail-send", () => sendMail(card));
  at("mail-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void pressed(event.submitter, () => useDigits(card));
  });
  followRequest(card);
  followQuestion(card);
}

function onPress(id, action) {
  at(id).addEventListener("click", () => void pressed(at(id), action));
}

// A button that is at work cannot be pressed again.
async function pressed(button, action) {
  if (button.disabled) return;
  button.disabled = true;
  try {
    await action();
  } finally {
    button.disabled = false;
  }
}

async function keep(card) {
  try {
    await card.phone.enrol(card.now());
    await shownHere(card);
  } catch {
    view.tell(view.word("keep_failed"));
    view.showNetwork(view.word("keep_failed"));
    await card.refresh();
  }
}

async function shownHere(card) {
  const { state, phone } = card;
  await card.take({ ...state, now: card.now(), code: null, phone: { state: "enrolled", enrolment: phone.kept.enrolment } });
  view.tell(view.word("code_moves"));
  await card.refresh();
}

async function remove(card) {
  await card.phone.end(card.now()).catch(() => view.tell(view.word("keep_failed")));
  await card.refresh();
  if (!card.phone.isEnrolled) view.tell(view.word("removed"));
}

async function sendMail(card) {
  try {
    await post(card.token, "/phone/mail-code");
    at("mail-told").textContent = view.word("mail_sent");
    at("mail-form").hidden = false;
    at("mail-digits").focus();
  } catch (fault) {
    at("mail-told").textContent = view.word(fault.code === "mail_not_sent" ? "mail_none" : "keep_failed");
  }
}

async function useDigits(card) {
  try {
    await card.phone.moveHere(card.now(), at("mail-digits").value.replaceAll(" ", ""));
  } catch {
    at("mail-told").textContent = view.word("mail_wrong");
    at("mail-digits").focus();
    return;
  }
  at("mail-form").reset();
  await shownHere(card);
}

// On the new phone: a picture that the old phone's camera opens.
function followRequest(card) {
  let timer = null;
  const draw = async () => view.showRequest(await card.phone.request(card.now()));
  at("by-phone").addEventListener("toggle", () => {
    clearInterval(timer);
    if (!at("by-phone").open) return;
    void draw();
    timer = setInterval(() => void draw(), REQUEST_RENEWED);
  });
}

// On the old phone: the address of that picture was opened.
function followQuestion(card) {
  let request = null;
  const ask = () => {
    const found = /^#move=([\w-]{43}\.[\w-]{86}\.\d{1,12})$/.exec(location.hash);
    if (!found) return;
    history.replaceState(null, "", location.pathname);
    if (!card.phone.isEnrolled) return;
    request = found[1];
    at("move-told").textContent = "";
    if (!at("move").open) at("move").showModal();
  };
  addEventListener("hashchange", ask);
  onPress("move-yes", async () => {
    try {
      await card.phone.giveTo(request);
    } catch {
      at("move-told").textContent = view.word("move_late");
      return;
    }
    at("move").close();
    await card.refresh();
    view.tell(view.word("moved"));
  });
  ask();
}
