/**
 * `<registration-sheet>`: a person asks Sequencing.com for an account, or for a new password.
 *
 *     <script type="module" src="/genes/registration-sheet.js"></script>
 *     <registration-sheet></registration-sheet>
 *
 * `RegistrationRoutes` serve it, with the texts (WORDS) and the look (LOOK) in front, and ask the service. It makes no HTML from
 * text and runs under `default-src 'none'; script-src 'self'; connect-src 'self'`. Sections and rows (B01) are the dossier's.
 *
 * Attributes
 *   base            where the routes are; by default the folder of this script
 *   email           the address to begin with
 *   lang            here or further out: the language of the words
 *
 * Methods
 *   show(), hide()  open and close the sheet
 *
 * Events, none of which bubbles
 *   sent            the service has sent a mail: `detail` is `{ request: "register" | "reset-password", email }`
 *   close           the sheet is closed
 *
 * Custom properties: `--file-selector-accent`, `--file-selector-accent-ink`.
 */

const HERE = new URL(".", import.meta.url).href;
/** How long an answer may take, in milliseconds. */
const TIMEOUT = 30_000;
/** The longest answer that is read, in bytes: one has a few sentences. */
const MAXIMUM_BYTES = 64 * 1024;

const sheet = new CSSStyleSheet();
sheet.replaceSync(`
:host{display:contents;font-size:1rem;line-height:1.5;text-align:start}
*{box-sizing:border-box}
[hidden]{display:none !important}
h2,p{margin:0}
dialog{${COLORS};width:min(27rem,calc(100vw - 2rem));max-height:calc(100dvh - 2rem);overflow:auto;padding:1.5rem;border:0;
  border-radius:${LOOK.radius / 16}rem;background:var(--card);color:var(--ink);box-shadow:0 1.5rem 4rem rgb(8 16 24 / .3);overflow-wrap:anywhere}
dialog::backdrop{background:rgb(12 16 20 / .5)}
h2{font-size:1.2rem;font-weight:650;line-height:1.3;letter-spacing:-.01em;text-wrap:balance}
p{margin-block:.5rem 1.1rem;color:var(--quiet);text-wrap:pretty}
label{display:block;margin-bottom:.3rem;font-size:.92rem;font-weight:600}
input{width:100%;min-height:${LOOK.control / 16}rem;padding:.4rem .75rem;border:1px solid var(--field);border-radius:.6rem;background:var(--card);
  color:inherit;font:inherit}
input[aria-invalid=true]{border-color:var(--bad)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.said{margin-block:.6rem 0;color:var(--ink)}
.said:empty{display:none}
.said.bad{color:var(--bad)}
.acts{display:grid;gap:.6rem;margin-top:1.25rem}
button{min-height:${LOOK.control / 16}rem;padding:.5rem 1rem;border:1px solid var(--line);border-radius:.6rem;background:var(--card);color:var(--ink);
  font:inherit;font-weight:600;cursor:pointer}
button:hover:not(:disabled){border-color:var(--field)}
.first{border-color:var(--accent);background:var(--accent);color:var(--accent-ink)}
button:disabled{border-color:var(--line);background:none;color:var(--quiet);cursor:default}
@media (max-width:30rem){dialog{width:100vw;max-width:none;margin-block-end:0;border-end-start-radius:0;border-end-end-radius:0;
  padding-bottom:max(1.5rem,env(safe-area-inset-bottom))}}
@media (prefers-reduced-motion:no-preference){
dialog[open]{animation:rise .28s cubic-bezier(.2,.8,.2,1)}
@keyframes rise{from{transform:translateY(2rem);opacity:0}}
}
`);

const REQUESTS = { register: ["register_new", "register_sent_new"], "reset-password": ["register_reset", "register_sent_reset"] };

class RegistrationSheet extends HTMLElement {
  #words = new Words(ENGLISH);
  #parts = {};
  #asked = null; // the AbortController of the request under way

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [sheet];
  }

  connectedCallback() {
    if (this.#parts.dialog) return;
    const p = this.#parts;
    this.#words = new Words(this.closest("[lang]")?.lang || ENGLISH);
    const say = (key) => this.#say(key);
    p.email = element("input", { id: "email", type: "email", name: "email", autocomplete: "email", inputmode: "email", spellcheck: "false",
      autocapitalize: "none", "aria-describedby": "said", value: this.getAttribute("email") });
    p.field = element("div", element("label", { for: "email" }, say("register_email")), p.email);
    p.said = element("p.said", { id: "said", role: "status" });
    p.send = Object.fromEntries(Object.entries(REQUESTS).map(([request, [words]], index) =>
      [request, element(index === 0 ? "button.first" : "button", { type: "button", click: () => this.#ask(request) }, say(words))]));
    p.leave = element("button.leave", { type: "button", click: () => this.#asked ? this.#cancel() : this.hide() }, say("cancel"));
    p.form = element("form", { novalidate: true, submit: (event) => {
      event.preventDefault();
      this.#ask("register");
    } }, p.field, p.said, element("div.acts", ...Object.values(p.send), p.leave));
    // Enter in the field asks for an account, as the first button does.
    p.note = element("p", say("register_note"));
    p.dialog = element("dialog", { "aria-labelledby": "title", lang: this.#words.language, dir: this.#words.direction,
      close: () => {
        // It may be open again.
        if (p.dialog.open) return;
        this.#asked?.abort();
        this.#asked = null;
        this.dispatchEvent(new CustomEvent("close"));
      } }, element("h2", { id: "title" }, say("register_title")), p.note, p.form);
    this.shadowRoot.append(p.dialog);
  }

  disconnectedCallback() {
    this.#asked?.abort();
    this.#asked = null;
    // A dialog that leaves the page stays open, but is modal no longer: put back, it could not be opened.
    this.hide();
  }

  show() {
    const { dialog, email } = this.#parts;
    if (!dialog || dialog.open) return;
    this.#edit("");
    dialog.showModal();
    email.focus();
  }

  hide() {
    this.#parts.dialog?.close();
  }

  /** A text; what is filled in comes from elsewhere, and does not turn the words around it. */
  #say(key, argument = "") {
    return this.#words.say(key, `\u2068${argument.replace(/[\u202a-\u202e\u2066-\u2069]/g, "")}\u2069`);
  }

  /** Shows the field, and why the last attempt did not succeed. */
  #edit(complaint, isFieldWrong = false) {
    const p = this.#parts;
    p.note.hidden = p.field.hidden = false;
    p.email.readOnly = false;
    for (const button of Object.values(p.send)) button.hidden = button.disabled = false;
    p.leave.textContent = this.#say("cancel");
    p.said.className = complaint ? "said bad" : "said";
    p.said.textContent = complaint;
    if (isFieldWrong) p.email.setAttribute("aria-invalid", "true");
    else p.email.removeAttribute("aria-invalid");
    if (complaint) p.email.focus();
  }

  #cancel() {
    this.#asked?.abort();
    this.#asked = null;
    this.#edit(this.#say("register_unknown"));
  }

  async #ask(request) {
    const p = this.#parts;
    if (this.#asked) return;
    const email = p.email.value.trim();
    if (email === "") return this.#edit(this.#say("register_empty"), true);
    if (!isAddress(email)) return this.#edit(this.#say("register_invalid"), true);
    const asked = this.#asked = new AbortController();
    this.#edit("");
    for (const button of Object.values(p.send)) button.disabled = true;
    p.email.readOnly = true;
    p.said.textContent = this.#say("register_asking");
    p.leave.focus();
    const answer = await send(new URL(request, new URL(this.getAttribute("base") ?? HERE, document.baseURI)), email, asked.signal);
    if (this.#asked !== asked) return;
    this.#asked = null;
    if (answer.outcome === "mail_sent") return this.#finish(request, email);
    if (answer.outcome === "refused") return this.#edit(this.#say("register_refused", answer.messages.join(" ")), true);
    this.#edit(this.#say(`register_${answer.outcome}`), answer.outcome === "invalid");
  }

  #finish(request, email) {
    const p = this.#parts;
    p.note.hidden = p.field.hidden = true;
    for (const button of Object.values(p.send)) button.hidden = true;
    p.said.className = "said";
    p.said.textContent = this.#say(REQUESTS[request][1], email);
    p.leave.textContent = this.#say("close");
    p.leave.focus();
    this.dispatchEvent(new CustomEvent("sent", { detail: { request, email } }));
  }
}

const ATOM = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~]+";
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const NUMBER = "0*(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
const LOCAL_PART = new RegExp(`^(?:${ATOM}(?:\\.${ATOM})*|"(?:[ !#-\\[\\]-~]|\\\\[ -~])+")$`);
const DOMAIN = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})+|\\[(?:${NUMBER}(?:\\.${NUMBER}){3}|[Ii][Pp][Vv]6:(?=[^:]*:)[0-9A-Fa-f:.]{2,45})\\])$`);

/** Whether a text is an email address (RFC 5322, section 3.4.1). As `EmailAddress` in Swift, which refuses the others. */
function isAddress(text) {
  const mark = text.lastIndexOf("@");
  return text.length <= 254 && mark <= 64 && LOCAL_PART.test(text.slice(0, Math.max(mark, 0))) && DOMAIN.test(text.slice(mark + 1));
}

/** Asks the server: `mail_sent`, `refused` with texts, `invalid`, `failed`, or `unknown` where no answer came. */
async function send(address, email, signal) {
  let response, body;
  try {
    response = await fetch(address, {
      method: "POST", credentials: "same-origin", cache: "no-store", redirect: "error", body: JSON.stringify({ email }),
      headers: { Accept: "application/json", "Content-Type": "application/json" }, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]),
    });
    body = await boundedText(response, MAXIMUM_BYTES).then(JSON.parse).catch(() => null);
  } catch {
    return { outcome: navigator.onLine ? "unknown" : "failed" };
  }
  if (response.status === 422) return { outcome: "invalid" };
  if (response.status === 504) return { outcome: "unknown" };
  if (!response.ok || !["mail_sent", "refused"].includes(body?.outcome)) return { outcome: "failed" };
  const messages = Array.isArray(body.messages) ? body.messages.filter((text) => typeof text === "string").map((text) => text.slice(0, 500)) : [];
  return { outcome: body.outcome, messages };
}

if (!customElements.get("registration-sheet")) customElements.define("registration-sheet", RegistrationSheet);
