/**
 * `<connected-accounts>`: every service that the app offers, how the user's account there stands, and what can be done.
 *
 *     <script type="module" src="/connect/connected-accounts.js"></script>
 *     <connected-accounts></connected-accounts>
 *
 * `ConnectedAccountsRoutes` serves it, with the texts (WORDS) and the states (STATES) in front; `SignInRoutes` beside
 * them connect and disconnect. It makes no HTML from text and runs under `default-src 'none'; script-src 'self';
 * connect-src 'self'`. Light or dark is the `color-scheme` around it.
 *
 * Attributes
 *   base            where the routes are, at the page's own origin; by default the folder of this script
 *   locale          the locale of the texts; by default the page's `lang`, then the browser's
 *   log-in-href     where a user can log in whose session in the app has ended
 *
 * Children with `slot="SERVICE"` are shown as the picture of that service, 40 by 40 pixels.
 *
 * Methods
 *   refresh()       asks the server again
 *
 * Events; they bubble, and `detail.service` is the service's name
 *   connected       the user came back from the service, and the account is connected
 *   disconnected    the account is disconnected
 *   failed          connecting or disconnecting failed: `detail.reason` is `cancelled` (the user stopped connecting), `failed`,
 *                   `too_many` (nothing has changed) or `unfinished` (disconnecting may still finish; then `disconnected` follows)
 *
 * Custom properties: `--connected-accounts-accent`, `--connected-accounts-accent-ink`.
 */

const HERE = new URL(".", import.meta.url).href

/** Milliseconds after which a wait is called long, and after which it ends. */
const SLOW = 5_000
const TIMEOUT = { list: 20_000, disconnect: 60_000 }
/** How long a sign-in may take that this page is told of, in milliseconds. */
const ATTEMPT = 3_600_000
const PENDING = "connected-accounts"

// MARK: - Words

const AMERICAN = ["US", "AS", "GU", "MH", "MP", "PH", "PR", "UM", "VI"]
const LATIN_AMERICAN = ["419", "AR", "BO", "BR", "BZ", "CL", "CO", "CR", "CU", "DO", "EC", "GT", "HN", "MX", "NI", "PA",
                        "PE", "PR", "PY", "SV", "US", "UY", "VE"]

/** The locale of WORDS for a tag, or null. As `InterfaceLocale` in Swift. */
function match(tag) {
  let found
  try {
    found = new Intl.Locale(tag.replaceAll("_", "-"))
  } catch {
    return null
  }
  const { language, region, script } = found
  switch (language) {
    case "en": return !region || AMERICAN.includes(region) ? "en-US" : "en-GB"
    case "es": return LATIN_AMERICAN.includes(region) ? "es-419" : "es"
    case "fr": return region === "CA" ? "fr-CA" : "fr"
    case "pt": return region && region !== "BR" ? "pt-PT" : "pt-BR"
    case "no": case "nb": case "nn": return "nb"
    case "yue": return script === "Hans" ? "zh-Hans" : "zh-Hant"
    case "zh":
      return script === "Hant" || script !== "Hans" && ["TW", "HK", "MO"].includes(region) ? "zh-Hant" : "zh-Hans"
    default: return Object.hasOwn(WORDS, language) ? language : null
  }
}

/** A name from elsewhere, kept from turning the words around it in another direction. */
const isolated = (text) => `\u2068${text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "")}\u2069`

// MARK: - Building blocks

/** Makes `tag.class`. Strings among the parts become text, so a name with markup stays a name. */
function element(name, ...parts) {
  const [tag, ...looks] = name.split(".")
  const made = document.createElement(tag)
  if (looks.length) made.className = looks.join(" ")
  for (const part of parts) {
    if (typeof part === "string" || part instanceof Node) made.append(part)
    else for (const [key, value] of Object.entries(part)) {
      if (typeof value === "function") made.addEventListener(key, value)
      else if (value === true) made.setAttribute(key, "")
      else if (value ?? false) made.setAttribute(key, value)
    }
  }
  return made
}

const SIGNS = {
  connected: "M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15M6.7 10.2l2.3 2.3 4.3-4.7",
  attention: "M10 3.2L2.6 16.4h14.8zM10 8.2v3.6M10 13.9v.1",
  absent: "M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15",
}

function sign(name) {
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  drawing.setAttribute("viewBox", "0 0 20 20")
  drawing.setAttribute("aria-hidden", "true")
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
  path.setAttribute("d", SIGNS[name])
  drawing.append(path)
  return drawing
}

/** Shows or hides without touching what is the same, so that a screen reader is not told twice. */
function show(target, text) {
  if (target.textContent !== text) target.textContent = text
  target.hidden = text === ""
}

/** The address if a page may link to it, or null: https or the page's own origin. */
function safeAddress(text) {
  if (text === null || !URL.canParse(text, document.baseURI)) return null
  const { protocol, origin, href } = new URL(text, document.baseURI)
  return protocol === "https:" || protocol === "http:" && origin === location.origin ? href : null
}

const sheet = new CSSStyleSheet()
sheet.replaceSync(`
:host{display:block;container-type:inline-size;min-width:min(100%,15rem);font-size:1rem;line-height:1.4;text-align:start}
:host([hidden]),[hidden]{display:none !important}
*{box-sizing:border-box}
p,ul,h2{margin:0}
bdi{text-align:-webkit-match-parent;text-align:match-parent}
.card{--card:light-dark(#fff,#1e2226);--line:light-dark(#dcdad3,#383e44);--ink:light-dark(#1c2024,#eceef0);
  --quiet:light-dark(#565b62,#b4bbc2);--field:light-dark(#80796b,#8b939b);--good:light-dark(#17693a,#7fd6a2);
  --warn:light-dark(#8a4b00,#ffc46b);--warn-tint:light-dark(#fff5e5,#352a18);--bad:light-dark(#a11b1b,#ffb4ab);
  --accent:var(--connected-accounts-accent,light-dark(#0b635c,#82d2c8));
  --accent-ink:var(--connected-accounts-accent-ink,light-dark(#fff,#06211e));
  --wash:color-mix(in srgb,var(--ink) 5%,var(--card));background:var(--card);color:var(--ink);
  border:1px solid var(--line);border-radius:.75rem;overflow:clip;overflow-wrap:anywhere}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
svg{width:1.1rem;height:1.1rem;flex:none;fill:none;stroke:currentColor;stroke-width:1.7;stroke-linecap:round;
  stroke-linejoin:round}
button,.button{display:inline-grid;place-items:center;min-height:2.75rem;padding:.4rem 1rem;border:1px solid var(--field);
  border-radius:.5rem;background:transparent;color:var(--ink);font:inherit;font-weight:600;text-decoration:none;
  text-align:center;cursor:pointer}
button:hover,.button:hover{background:var(--wash)}
.first{border-color:var(--accent);background:var(--accent);color:var(--accent-ink)}
.first:hover{background:color-mix(in srgb,var(--accent) 88%,var(--ink))}
.calls{border-color:var(--accent);color:var(--accent)}
.danger{border-color:var(--bad);background:var(--bad);color:var(--card)}
.danger:hover{background:color-mix(in srgb,var(--bad) 88%,var(--ink))}
[aria-disabled=true],[aria-disabled=true]:hover{border-color:var(--line);background:var(--wash);color:var(--quiet);cursor:default}
.pane,.banner{display:flex;flex-wrap:wrap;align-items:center;gap:.6rem 1rem;padding:.75rem 1.25rem}
.pane p,.banner p{flex:1 1 12rem;text-wrap:pretty}
.pane{min-height:5rem}
.banner{background:var(--warn-tint);border-bottom:1px solid var(--line)}
.banner p{min-height:2rem;align-content:center}
ul{padding:0;list-style:none}
.unsure{visibility:hidden}
.row{display:grid;grid-template-columns:2.5rem minmax(0,1fr) auto;align-items:center;column-gap:1rem;row-gap:.6rem;padding:1rem 1.25rem;
  min-height:5.5rem}
.row + .row{border-top:1px solid var(--line)}
.picture{display:grid;place-items:center;width:2.5rem;height:2.5rem;border-radius:.6rem;overflow:clip;
  background:hsl(var(--hue) 42% 38%);color:#fff;font-weight:650;font-size:1.1rem}
.picture:has(slot.own){background:none}
::slotted(*){width:2.5rem;height:2.5rem;object-fit:contain}
.name{font-weight:650}
.state{display:flex;gap:.4rem;align-items:flex-start;color:var(--quiet)}
.state svg{margin-top:.15rem}
.connected>svg{color:var(--good)}
.attention{color:var(--warn);font-weight:500}
.use{color:var(--quiet);font-size:.875rem}
.acts{display:flex;flex-wrap:wrap;gap:.5rem;justify-content:flex-end}
.wait{display:flex;gap:.75rem;align-items:center;justify-content:flex-end}
.wait p{max-width:13rem;color:var(--quiet)}
.wait small{display:block;font-size:.875rem}
.said{grid-column:2/-1;padding:.5rem .8rem;border-radius:.5rem;background:var(--wash);font-size:.925rem;text-wrap:pretty}
.said.bad{background:var(--warn-tint)}
.bones{display:grid;gap:1px;background:var(--line);border-top:1px solid var(--line)}
.bones i{height:5.5rem;background:linear-gradient(var(--wash),var(--wash)) 1.25rem 50%/2.5rem 2.5rem no-repeat,
  linear-gradient(var(--wash),var(--wash)) 4.75rem 40%/min(40%,9rem) .8rem no-repeat,
  linear-gradient(var(--wash),var(--wash)) 4.75rem 62%/min(55%,13rem) .7rem no-repeat,var(--card)}
.bones:dir(rtl) i{transform:scaleX(-1)}
dialog{width:min(26rem,calc(100vw - 2rem));max-height:calc(100dvh - 2rem);overflow:auto;padding:1.5rem;border:1px solid var(--line);border-radius:.9rem;
  background:var(--card);color:var(--ink);overflow-wrap:anywhere}
dialog::backdrop{background:rgb(10 14 18 / .5)}
dialog h2{font-size:1.15rem;line-height:1.3;text-wrap:balance}
dialog p{margin-block:.5rem 1.25rem;color:var(--quiet);text-wrap:pretty}
dialog div{display:flex;flex-wrap:wrap;gap:.6rem;justify-content:flex-end}
dialog button{flex:0 1 auto}
@container (max-width:32rem){
  .row{grid-template-columns:2.5rem minmax(0,1fr);padding-inline:1rem}
  .row>.acts,.row>.wait{grid-column:2;justify-content:flex-start}
  .row>.picture{align-self:start;margin-top:.2rem}
  .acts :is(button,.button){padding-inline:.8rem}
  .pane,.banner{padding-inline:1rem}
  .bones i{background-position:1rem 50%,4.5rem 40%,4.5rem 62%,0 0}
}
@media (prefers-reduced-motion:no-preference){
  .bones i{animation:breathe 1.8s ease-in-out infinite}
  @keyframes breathe{50%{opacity:.55}}
}
@media (forced-colors:active){.picture{border:1px solid}.danger,.first{border:2px solid}}
`)

// MARK: - Asking the server

/** Why the server's answer is of no use: `kind` is a key of WORDS, `status` the answer's, or 0 without one. */
class Refusal extends Error {
  constructor(kind, status = 0) {
    super(kind)
    this.kind = kind
    this.status = status
  }
}

/** The longest answer that is read, in bytes: a thousand services are a fraction of it. */
const MAXIMUM_BYTES = 1024 * 1024

/** The text of an answer of at most so many bytes; a longer one is a `RangeError`, and the rest is not read. */
async function boundedText({ body }, limit) {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  for (let part; reader && !(part = await reader.read()).done;) {
    bytes += part.value.length
    if (bytes > limit) {
      reader.cancel()
      throw new RangeError("the answer is too long")
    }
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}

/** Asks, and reads JSON; of an answer that is none, or too long, the body is null. */
async function ask(address, signal, timeout, content) {
  const limit = AbortSignal.timeout(timeout)
  let response
  let body
  try {
    response = await fetch(address, {
      method: content ? "POST" : "GET", credentials: "same-origin", cache: "no-store", redirect: "error",
      signal: AbortSignal.any([signal, limit]),
      headers: { Accept: "application/json", ...content ? { "Content-Type": "application/json" } : {} },
      body: content && JSON.stringify(content),
    })
    body = await boundedText(response, MAXIMUM_BYTES).then(JSON.parse).catch((error) => {
      if (error.name === "AbortError" || error.name === "TimeoutError") throw error
      return null
    })
  } catch (error) {
    if (signal.aborted) throw new DOMException("cancelled", "AbortError")
    throw new Refusal(navigator.onLine ? "unavailable" : "offline")
  }
  if (response.status === 401) throw new Refusal("logged_out", 401)
  if (response.status === 429) throw new Refusal("too_many", 429)
  return { status: response.status, body }
}

const text = (value, limit = 200) => typeof value === "string" && value !== "" ? value.slice(0, limit) : null

/** An account as the server described it; null for one that cannot be read. */
function readAccount(record) {
  const service = text(record?.service)
  if (service === null || !/^[a-z0-9-]+$/.test(service)) return null
  return {
    service, name: text(record.name) ?? service, user: text(record.user), token: text(record.token) ?? "",
    state: Object.hasOwn(STATES, record.state) ? record.state : "sign_in_required",
    isNameAvailable: record.is_name_available === true,
    // What is no date of JavaScript's is none.
    lastUse: typeof record.last_use === "number" && Math.abs(record.last_use) <= 8.64e12 ? record.last_use * 1000 : null,
  }
}

// MARK: - One service

class Row {
  /** What is waited for: null, `opening` or `disconnecting`. */
  waiting = null
  /** What was said last: a key of WORDS, or null. */
  said = null

  constructor(list, account) {
    this.list = list
    this.account = account
    const id = (part) => `${part}-${account.service}`
    this.name = element("span.name", { id: id("name") })
    this.state = element("p.state")
    this.use = element("p.use")
    this.acts = element("div.acts")
    this.buttons = {
      connect: this.#link("connect"), reconnect: this.#link("reconnect"),
      disconnect: element("button", { type: "button", id: id("disconnect"), click: () => this.#act(() => list.confirm(this)) }),
    }
    for (const [action, button] of Object.entries(this.buttons)) {
      button.id = id(action)
      button.setAttribute("aria-labelledby", `${id(action)} ${id("name")}`)
    }
    this.acts.append(...Object.values(this.buttons))
    this.note = element("p", { tabindex: "-1" })
    this.stop = element("button", { type: "button", id: id("stop"), "aria-labelledby": `${id("stop")} ${id("name")}`,
                                    click: () => this.cancel() })
    this.wait = element("div.wait", this.note, this.stop, { hidden: true })
    this.message = element("p.said", { hidden: true })
    const slot = element("slot", { name: account.service })
    slot.addEventListener("slotchange", () => slot.classList.toggle("own", slot.assignedElements().length > 0))
    slot.append(element("span", { "aria-hidden": "true" }, [...account.name][0].toUpperCase()))
    const picture = element("div.picture", slot)
    picture.style.setProperty("--hue", String([...account.service].reduce((sum, c) => (sum * 31 + c.codePointAt(0)) % 360, 7)))
    this.root = element("li.row", { id: id("row") }, picture, element("div", element("bdi", this.name), this.state, this.use), this.acts,
                        this.wait, this.message)
  }

  #link(action) {
    const look = action === "reconnect" ? "a.button.first" : "a.button.calls"
    return element(look, { click: (event) => {
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
      if (!this.#act(() => this.#leave())) event.preventDefault()
    } })
  }

  /** Acts, unless the browser is offline: then the notice above is said again. */
  #act(body) {
    if (this.list.isOffline) {
      this.list.announce("offline")
      return false
    }
    body()
    return true
  }

  #leave() {
    this.#begin("opening")
    try {
      sessionStorage.setItem(PENDING, JSON.stringify({ service: this.account.service, at: Date.now() }))
    } catch { /* The page then says nothing when the user is back. */ }
  }

  #begin(what) {
    this.waiting = what
    this.said = null
    this.isSlow = false
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      this.isSlow = true
      this.draw()
      this.list.announce("slow")
    }, SLOW)
    this.list.announce(what, this.account.name)
    this.draw()
    this.stop.focus()
  }

  end(said = null, isFocused = this.list.focused === this.stop) {
    clearTimeout(this.timer)
    this.waiting = null
    this.said = said
    this.draw()
    if (said) this.list.announce(said, this.account.name)
    if (isFocused) this.#focus()
  }

  /** The first thing that can be done, where the keyboard was. */
  #focus() {
    Object.values(this.buttons).find((button) => !button.hidden)?.focus()
  }

  cancel() {
    const what = this.waiting
    this.sent?.abort()
    if (what === "opening") {
      window.stop()
      forgetPending()
    }
    this.end(what === "opening" ? "cancelled" : "may_finish", true)
    this.list.tell("failed", { service: this.account.service, reason: what === "opening" ? "cancelled" : "unfinished" })
    if (what === "disconnecting") this.list.watch()
  }

  async disconnect() {
    this.#begin("disconnecting")
    const sent = this.sent = new AbortController()
    try {
      const path = `${this.account.service}/disconnect`
      const { status, body } = await this.list.ask(path, sent.signal, TIMEOUT.disconnect, { token: this.account.token })
      if (status === 200) {
        this.account = { ...this.account, state: "absent", user: null, lastUse: null }
        this.end(body?.not_revocable?.length > 0 ? "not_revocable" : "now_disconnected")
        this.list.tell("disconnected", { service: this.account.service })
      } else {
        this.end("disconnect_failed")
        this.list.tell("failed", { service: this.account.service, reason: "unfinished" })
      }
    } catch (error) {
      if (error.name === "AbortError") return
      this.end(error.kind === "logged_out" ? null : error.kind === "too_many" ? "too_many" : "disconnect_failed")
      if (error.kind === "logged_out") return this.list.fail(error)
      this.list.tell("failed", { service: this.account.service, reason: error.kind === "too_many" ? "too_many" : "unfinished" })
    }
    // What the server says now counts, and brings the next token.
    this.list.refresh()
  }

  /** Takes what the server says. What was said or asked of another state, or of another user's account, no longer holds. */
  take(account) {
    const before = this.account
    // The token is the user's own: with another one, another user has logged in meanwhile.
    const isSameUser = before.token === account.token
    this.account = isSameUser && account.user === null && before.state === account.state && before.lastUse === account.lastUse
      ? { ...account, user: before.user } : account
    if (!isSameUser) this.said = null
    // The question was about the account as it was: a press must not disconnect the next user's.
    if (!isSameUser || !STATES[account.state].actions.includes("disconnect")) this.list.withdraw(this)
    // The answer to the disconnection was lost, or not waited for, and it was done.
    const isDone = account.state === "absent" && ["disconnect_failed", "may_finish"].includes(this.said)
    const mayFinish = account.state === "signing_out" && this.said === "may_finish"
    if (!isDone && !mayFinish && before.state !== account.state && ["may_finish", "cancelled", "connect_failed"].includes(this.said)) this.said = null
    if (isDone) {
      this.said = "now_disconnected"
      this.list.announce(this.said, account.name)
      this.list.tell("disconnected", { service: account.service })
    }
    this.draw()
  }

  draw() {
    const { list, account } = this
    const state = STATES[account.state]
    show(this.name, account.name)
    const look = state.needsAttention ? "attention" : state.isConnected ? "connected" : "absent"
    const words = account.user !== null && state.isConnected ? list.say("connected_as", account.user) : list.say(state.words)
    if (this.drawn !== look + words) {
      this.drawn = look + words
      this.state.className = `state ${look}`
      this.state.replaceChildren(sign(look), element("bdi", words))
    }
    this.use.hidden = account.lastUse === null
    if (account.lastUse !== null) {
      const used = element("time", { datetime: new Date(account.lastUse).toISOString(), title: list.moment(account.lastUse) },
                           list.ago(account.lastUse))
      const [before, after] = list.word("last_used").split("%1$@")
      this.use.replaceChildren(element("bdi", before, used, after ?? ""))
    }
    const hadFocus = this.acts.contains(list.focused)
    this.acts.hidden = this.waiting !== null
    this.wait.hidden = this.waiting === null
    for (const [action, button] of Object.entries(this.buttons)) {
      button.hidden = !state.actions.includes(action)
      show2(button, list.say(action))
      if (action !== "disconnect") button.href = list.address(`${account.service}/start?return_to=${encodeURIComponent(list.page)}`)
      if (list.isOffline) button.setAttribute("aria-disabled", "true")
      else button.removeAttribute("aria-disabled")
    }
    if (this.waiting) {
      this.note.replaceChildren(element("bdi", list.say(this.waiting, account.name)),
                                ...this.isSlow ? [element("small", list.say("slow"))] : [])
      show2(this.stop, list.say("cancel"))
    }
    this.message.className = ["now_connected", "now_disconnected"].includes(this.said) ? "said" : "said bad"
    this.message.hidden = this.said === null
    if (this.said) this.message.replaceChildren(element("bdi", list.say(this.said, account.name)))
    else this.message.replaceChildren()
    if (hadFocus && this.waiting === null && !this.acts.contains(list.focused)) this.#focus()
  }
}

/** Writes the label of a button without hiding it. */
function show2(target, label) {
  if (target.textContent !== label) target.textContent = label
}

function forgetPending() {
  try {
    sessionStorage.removeItem(PENDING)
  } catch { /* There was none. */ }
}

// MARK: - The list

class ConnectedAccounts extends HTMLElement {
  static observedAttributes = ["base", "locale", "log-in-href"]

  #rows = new Map()
  #loading = null
  #problem = null
  #isSlow = false
  #retries = 0
  isOffline = false

  constructor() {
    super()
    const root = this.attachShadow({ mode: "open" })
    root.adoptedStyleSheets = [sheet]
    this.live = element("p.unseen", { role: "status" })
    this.bannerText = element("p")
    this.bannerRetry = element("button", { type: "button", click: () => this.refresh() })
    this.banner = element("div.banner", this.bannerText, this.bannerRetry, { hidden: true })
    this.paneText = element("p")
    this.paneButton = element("button", { type: "button", click: () => this.#loading ? this.#stop() : this.refresh() })
    this.paneLink = element("a.button.first", { hidden: true })
    this.pane = element("div.pane", this.paneText, this.paneLink, this.paneButton)
    this.bones = element("div.bones", { "aria-hidden": "true" }, element("i"), element("i"), element("i"))
    this.ul = element("ul", { role: "list", hidden: true })
    this.dialog = this.#dialog()
    this.card = element("div.card", this.banner, this.pane, this.bones, this.ul, this.dialog)
    root.append(this.card, this.live)
  }

  connectedCallback() {
    const options = { signal: (this.gone = new AbortController()).signal }
    this.#setLocale()
    this.isOffline = !navigator.onLine
    window.addEventListener("offline", () => this.#setOffline(true), options)
    window.addEventListener("online", () => this.#setOffline(false), options)
    window.addEventListener("pageshow", (event) => event.persisted && this.#back(), options)
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.refresh(), options)
    this.clock = setInterval(() => this.#draw(), 60_000)
    this.#draw()
    this.refresh()
  }

  disconnectedCallback() {
    this.gone.abort()
    this.#loading?.abort()
    clearInterval(this.clock)
    clearTimeout(this.watching)
    clearTimeout(this.again)
  }

  attributeChangedCallback(name, before, after) {
    if (!this.isConnected || before === after) return
    if (name === "locale") this.#setLocale()
    // What one server has listed, with the tokens for it, is nothing to another one.
    if (name === "base") this.#empty()
    this.#draw()
    if (name === "base") this.refresh()
  }

  // MARK: Words

  #setLocale() {
    const own = this.getAttribute("locale") || this.closest("[lang]")?.lang
    this.language = [own, ...navigator.languages].filter(Boolean).map(match).find(Boolean) ?? "en-US"
    this.card.lang = this.live.lang = this.language
    this.relative = new Intl.RelativeTimeFormat(this.language, { numeric: "always" })
    this.instant = new Intl.DateTimeFormat(this.language, { dateStyle: "long", timeStyle: "short" })
  }

  word(key) {
    return WORDS[this.language]?.[key] ?? WORDS["en-US"][key] ?? key
  }

  say(key, name = "") {
    return this.word(key).replaceAll("%1$@", () => isolated(name))
  }

  moment(time) {
    return Math.abs(time) < 8.64e15 ? this.instant.format(time) : ""
  }

  /** How long ago a time was, in whole units and not by the calendar: 47 hours ago may be the day before yesterday. */
  ago(time) {
    const seconds = Math.max(1, Math.round((Date.now() - time) / 1000))
    const [unit, length] = [["year", 31_557_600], ["month", 2_629_800], ["week", 604_800], ["day", 86_400], ["hour", 3_600],
                            ["minute", 60]].find(([, length]) => seconds >= length) ?? ["second", 1]
    return this.relative.format(-Math.floor(seconds / length), unit)
  }

  /** Says to screen readers what the page shows. */
  announce(key, name) {
    const said = this.say(key, name)
    // The same text once more is no change, and would stay unsaid.
    this.live.textContent = this.live.textContent === said ? `${said}\u00a0` : said
  }

  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail }))
  }

  get focused() {
    return this.shadowRoot.activeElement
  }

  // MARK: Addresses

  address(path) {
    const base = this.getAttribute("base")
    return new URL(path, base ? new URL(base.endsWith("/") ? base : `${base}/`, document.baseURI) : HERE).href
  }

  /** Asks the server. It receives the tokens that disconnect, so it must be of this page's origin. */
  async ask(path, ...rest) {
    const address = this.address(path)
    if (new URL(address).origin !== (this.ownerDocument.defaultView ?? window).origin) throw new Refusal("unavailable")
    return ask(address, ...rest)
  }

  /** Where the user comes back to: this page, without what an earlier attempt left in its address. */
  get page() {
    const url = new URL(location.href)
    url.searchParams.delete(PENDING)
    return url.pathname + url.search
  }

  // MARK: Loading

  async refresh() {
    clearTimeout(this.again)
    this.#loading?.abort()
    const loading = this.#loading = new AbortController()
    const isFirst = this.#rows.size === 0
    this.#isSlow = false
    clearTimeout(this.slow)
    if (isFirst) {
      this.slow = setTimeout(() => {
        this.#isSlow = true
        this.#draw()
        this.announce("slow")
      }, SLOW)
      if (!this.isOffline) this.#problem = null
    }
    this.#draw()
    try {
      const { status, body } = await this.ask("connected-accounts", loading.signal, TIMEOUT.list)
      const accounts = Array.isArray(body?.accounts) ? body.accounts.map(readAccount).filter(Boolean) : []
      if (status !== 200 || accounts.length === 0) throw new Refusal("unavailable", status)
      if (loading !== this.#loading) return
      this.#settle()
      this.#retries = 0
      this.#problem = null
      // The server has answered, whatever the browser thinks of its network: it may be on this machine.
      this.isOffline = false
      this.ul.classList.remove("unsure")
      this.#take(accounts)
    } catch (error) {
      if (error.name === "AbortError" || loading !== this.#loading) return
      if (error.kind === "unavailable" && this.#retries > 0) {
        // The network is often a little later than the browser says.
        this.#retries -= 1
        this.again = setTimeout(() => this.refresh(), 1_000)
        return
      }
      this.#settle()
      this.fail(error)
    }
  }

  #settle() {
    this.#loading = null
    clearTimeout(this.slow)
  }

  #stop() {
    this.#loading?.abort()
    clearTimeout(this.again)
    this.#settle()
    this.#problem = "stopped"
    this.announce("stopped")
    this.#draw()
    this.paneButton.focus()
  }

  fail(error) {
    const kind = error.kind ?? "unavailable"
    if (kind === "logged_out") {
      // Another user may log in next: nothing of this one stays on the page.
      this.#empty()
    }
    const isNew = this.#problem !== kind && !(kind === "offline" && this.isOffline)
    this.#problem = kind
    this.isOffline = kind === "offline"
    this.#draw()
    if (isNew) this.announce(kind)
  }

  /** Forgets the list. What is under way for it is told no more. */
  #empty() {
    if (this.dialog.open) this.dialog.close()
    for (const row of this.#rows.values()) {
      clearTimeout(row.timer)
      row.sent?.abort()
    }
    this.#rows.clear()
  }

  #take(accounts) {
    const isFirst = this.#rows.size === 0
    const rows = new Map()
    for (const account of accounts) {
      const known = this.#rows.get(account.service)
      const row = known ?? new Row(this, account)
      if (known?.waiting === null) known.take(account)
      rows.set(account.service, row)
    }
    if (rows.get(this.asked?.account.service) !== this.asked) this.withdraw(this.asked)
    this.#rows = rows
    const order = [...rows.values()].map((row) => row.root)
    // Moving what has the focus would take it away.
    if (order.length !== this.ul.children.length || order.some((root, at) => this.ul.children[at] !== root)) {
      this.ul.replaceChildren(...order)
    }
    this.#draw()
    if (isFirst) this.#arrive()
    for (const row of rows.values()) this.#learnName(row)
  }

  async #learnName(row) {
    const { service, state, user, isNameAvailable } = row.account
    if (user !== null || !isNameAvailable || !STATES[state].isConnected || row.isAsking) return
    row.isAsking = true
    try {
      const { status, body } = await this.ask(`connected-accounts/${service}`, this.gone.signal, TIMEOUT.list)
      const account = status === 200 ? readAccount(body) : null
      const isOfRow = account?.service === service && account.token === row.account.token && row.account.state === state
      if (isOfRow && row.waiting === null && this.#rows.get(service) === row) row.take(account)
    } catch (error) {
      // Another server's list may have taken the place of the row's own.
      if (error.kind === "logged_out" && this.#rows.get(service) === row) this.fail(error)
    } finally {
      row.isAsking = false
    }
  }

  /** Looks again a few times, after the user has stopped waiting for a disconnection. */
  watch(times = 5) {
    clearTimeout(this.watching)
    this.refresh()
    if (times > 0) this.watching = setTimeout(() => this.watch(times - 1), 2_000)
  }

  // MARK: Coming back

  /** Says how the sign-in ended that this page began. Of one that was left nothing is known, and nothing is said. */
  #arrive() {
    const url = new URL(location.href)
    const outcome = url.searchParams.get(PENDING)
    if (outcome !== null) {
      url.searchParams.delete(PENDING)
      history.replaceState(history.state, "", url)
    }
    let pending = null
    try {
      pending = JSON.parse(sessionStorage.getItem(PENDING))
    } catch { /* Then there is none. */ }
    forgetPending()
    const row = this.#rows.get(pending?.service)
    if (!row || !(Math.abs(Date.now() - pending.at) < ATTEMPT)) return
    const { service, state } = row.account
    if (outcome === "cancelled" || outcome === "failed") {
      row.end(outcome === "cancelled" ? "cancelled" : "connect_failed")
      this.tell("failed", { service, reason: outcome })
    } else if (STATES[state].isConnected) {
      row.end("now_connected")
      this.tell("connected", { service })
    }
  }

  /** The browser shows this page again as it was left. Whose list it is has to be asked again before it is shown. */
  #back() {
    forgetPending()
    this.ul.classList.add("unsure")
    for (const row of this.#rows.values()) if (row.waiting === "opening") row.end(null, true)
    this.refresh()
  }

  #setOffline(isOffline) {
    // Whether the server answers counts: it may be on this machine. A request that fails says so.
    if (isOffline) return this.refresh()
    if (!this.isOffline && this.#loading === null) return
    this.isOffline = false
    if (this.#problem === "offline") this.#problem = null
    this.#retries = 5
    this.#draw()
    this.refresh()
  }

  // MARK: Disconnecting

  #dialog() {
    this.question = element("h2", { id: "question" })
    this.consequence = element("p", { id: "consequence" })
    this.keep = element("button", { type: "button", autofocus: true, click: () => this.dialog.close() })
    this.yes = element("button.danger", { type: "button", click: () => {
      const row = this.asked
      this.dialog.close()
      row.disconnect()
    } })
    return element("dialog", { "aria-labelledby": "question", "aria-describedby": "consequence" }, this.question,
                   this.consequence, element("div", this.keep, this.yes))
  }

  confirm(row) {
    this.asked = row
    this.#draw()
    this.dialog.showModal()
  }

  /** Takes back the question whether to disconnect, where it is about this row. */
  withdraw(row) {
    if (this.asked === row && this.dialog.open) this.dialog.close()
  }

  // MARK: Drawing

  #draw() {
    const isEmpty = this.#rows.size === 0
    this.ul.hidden = isEmpty
    this.ul.setAttribute("aria-label", this.say("list"))
    this.pane.hidden = !isEmpty
    this.bones.hidden = !isEmpty || this.#loading === null || this.isOffline
    this.card.setAttribute("aria-busy", String(isEmpty && this.#loading !== null))
    const problem = this.isOffline ? "offline" : this.#problem
    this.banner.hidden = isEmpty || problem === null
    if (isEmpty) {
      const isWaiting = this.#loading !== null && !this.isOffline
      const key = isWaiting ? "loading" : problem ?? "loading"
      this.paneText.replaceChildren(element("bdi", this.say(key) + (isWaiting && this.#isSlow ? ` ${this.say("slow")}` : "")))
      const link = key === "logged_out" ? safeAddress(this.getAttribute("log-in-href")) : null
      this.paneLink.hidden = link === null
      if (link) this.paneLink.href = link
      show2(this.paneLink, this.say("log_in"))
      show2(this.paneButton, this.say(isWaiting ? "cancel" : "try_again"))
      this.paneButton.hidden = link !== null
    } else if (problem) {
      this.bannerText.replaceChildren(element("bdi", this.say(problem)))
      show2(this.bannerRetry, this.say("try_again"))
    }
    for (const row of this.#rows.values()) row.draw()
    if (this.asked) {
      const { name } = this.asked.account
      this.question.replaceChildren(element("bdi", this.say("confirm_title", name)))
      this.consequence.replaceChildren(element("bdi", this.say("confirm_text", name)))
      show2(this.keep, this.say("keep"))
      show2(this.yes, this.say("disconnect"))
    }
  }
}

customElements.define("connected-accounts", ConnectedAccounts)
