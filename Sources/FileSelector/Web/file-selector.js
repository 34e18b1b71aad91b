/**
 * `<file-selector>`: a person picks one genetic data file.
 *
 *     <script type="module" src="/genes/file-selector.js"></script>
 *     <file-selector src="/genes/files?all=true" sign-in-href="/connect/sequencing/start" modal></file-selector>
 *
 * `FileSelectorRoutes` serve it, with the texts (WORDS) and the look (LOOK) in front, and the list. It makes no HTML from text
 * and runs under `default-src 'none'; script-src 'self'; connect-src 'self'`. Light or dark is the `color-scheme` around it.
 * Sections, rows (D01) and weaknesses (W1) are the dossier's.
 *
 * Attributes
 *   src             where the JSON list is fetched, with whatever flags the app wants (4.1); with another one nothing is selected
 *                   until its list is there: a file that it has is selected again, any other is forgotten
 *   selected        the id of a file to select: its tab and segment open and it scrolls into view
 *   remember        a key of this account, under which this browser keeps the choice
 *   modal           a sheet above the page, which `show()` opens; it fills the screen of a phone
 *   closable        shows a close button and lets Escape close; a sheet always does
 *   required, name  in a form: a choice is demanded; the id is submitted under this name
 *   name-field      in a form: the display name is submitted under this name
 *   upload-href     where a person without files can upload some (https://sequencing.com/)
 *   sign-in-href    where a person whose sign-in has expired can sign in again; offered in place of a retry
 *   timeout         seconds to wait for the list (20)
 *   lang            here or further out: the language of the words
 *
 * Properties
 *   files           the list instead of `src`: an array, null while it loads, or an `Error`
 *   selected        the id of the selected file, or null; may be set
 *   selectedFile    the selected record as the server sent it, or null; selectedName is its display name
 *   show(), hide()  open and close the sheet
 *   refresh(), forget()  load again; forget the remembered choice
 *
 * Events, none of which bubbles
 *   select          the selection changed: `detail` is `{ id, file, displayName }`, all null when it was cleared
 *   continue        the person is done: the same, with the whole record as `file`
 *   close           the person wants to leave without a choice
 *   refresh         a fresh list is wanted; `preventDefault()` keeps `src` from being fetched
 *   error           the list could not be loaded: `{ kind: "token" | "transport" | "answer", status, message }`. After `token`,
 *                   sign the person in, then call `refresh()`. A list that is there stays
 *
 * A child `<video slot="film" muted loop playsinline>` plays behind the first screen; a child with `slot="picture-ID"` is the
 * picture of the sample with that id, in place of the drawn one.
 *
 * Custom properties: `--file-selector-accent`, `--file-selector-accent-ink`, `--file-selector-list-height`. In a narrow place
 * the list has no height of its own: the page scrolls it.
 */

// MARK: - Reading what the server sent

/** Why there is no list: `kind` is for the app, `reason` ends the key of a text, `detail` is in the server's words. */
class Problem extends Error {
  constructor(kind, reason, { status = null, detail = null } = {}) {
    super(detail ?? reason);
    this.kind = kind;
    this.reason = reason;
    this.status = status;
    this.detail = detail;
  }
}

// Without a prototype, for a server may say "constructor" as well. The words are canonical for the search.
const CATEGORIES = {
  __proto__: null, community: ["sample", "Community"], uploaded: ["uploaded", "Uploaded"], sharedtome: ["shared", "SharedToMe"],
  fromapps: ["from_apps", "FromApps"],
  // The READMEs name one, the original code compares with the other (4.1).
  allwithaltruist: ["altruist", "AllWithAltruist"], altruist: ["altruist", "AllWithAltruist"],
};

const SEXES = { __proto__: null, male: ["men", "Male"], female: ["women", "Female"] };

/**
 * Reads a list tolerantly (9.5): numbers as strings and strings as numbers, null as absent, unknown words kept.
 *
 * An entry without an id cannot be chosen and is counted in `skipped`; one without a name is called by its id. Anything but
 * an array is a `Problem`, and so is one in which nothing can be read: neither may look like an empty account (W29).
 */
export function readFiles(answer) {
  if (!Array.isArray(answer)) throw new Problem("answer", "answer", { detail: serverMessage(answer) });
  const files = answer.map(readFile).filter(Boolean);
  const skipped = answer.length - files.length;
  if (skipped > 0 && files.length === 0) throw new Problem("answer", "answer");
  return { files, skipped };
}

function readFile(record) {
  if (typeof record !== "object" || record === null || Array.isArray(record)) return null;
  const id = readIdentifier(record.Id);
  if (id === null) return null;
  const word = readText(record.FileCategory) ?? "";
  const [segment, category] = CATEGORIES[word.toLowerCase()] ?? ["other", word];
  const isSample = segment === "sample";
  const name = readText(record.Name);
  const persona = readText(record.FriendlyDesc1);
  const description = readText(record.FriendlyDesc2);
  const [sex, sexWord] = SEXES[(readText(record.Sex) ?? "").toLowerCase()] ?? ["unstated", readText(record.Sex)];
  return {
    id, record, segment, category, isSample, name, persona, description, sex, sexWord,
    population: readText(record.Population),
    type: readText(record.FileType),
    subtype: readText(record.FileSubType),
    extension: readText(record.Ext),
    added: readDate(record.DateAdded),
    title: (isSample && persona) || name || id,
    repeats: false,
  };
}

/** An id as text, without the old `FILE:` prefix; null when there is none, or when a number has lost its last digits. */
function readIdentifier(value) {
  if (typeof value === "number" ? !Number.isSafeInteger(value) : typeof value !== "string") return null;
  const text = String(value);
  const bare = text.slice(text.lastIndexOf(":") + 1);
  return /^[^\0-\x20\x7f]+$/.test(bare) && new TextEncoder().encode(bare).length <= 200 ? bare : null;
}

function readText(value) {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && !isBlank(value) ? value : null;
}

function isBlank(text) {
  return /^\p{White_Space}*$/u.test(text);
}

/** A date as `{ text, time }`; `time` is NaN when the undocumented format is not one that is known. */
function readDate(value) {
  const text = readText(value);
  if (text === null || !/^\d{4}-\d\d-\d\d/.test(text)) return { text, isKnown: false, time: NaN };
  const [, day, time, zone] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  // 30 February is read as a day in March.
  const isDay = new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day?.slice(8));
  // A day without a time is that day here, not midnight in Greenwich.
  return { text, isKnown: true, time: isDay ? Date.parse(`${day}T${time ?? "00:00"}${zone ?? ""}`) : NaN };
}

/** What a server says in place of a list: human text or an object with a message (4.1). */
function serverMessage(answer) {
  const said = typeof answer === "object" && answer !== null
    ? answer.Message ?? answer.message ?? answer.error_description ?? answer.error : answer;
  return readText(said)?.slice(0, 200) ?? null;
}

/** How an app names a chosen file: persona and description of a sample, otherwise the file's name (4.4, D16). */
function displayName(file) {
  const persona = [file.persona, file.description].filter(Boolean).join(" - ");
  return (file.isSample && persona) || file.name || file.id;
}

/** Text as people compare it: without case, accents and compatibility forms. As `FoldedTexts` in Swift. */
function fold(text) {
  // Marks go first as well: to put a long run of them in order would take quadratic time.
  const marks = /\p{M}+/gu;
  return text.replace(marks, "").normalize("NFKD").replace(marks, "").toLowerCase().replaceAll("ς", "σ");
}

/** A folded text by which numbers are in order of their value: the number of digits stands before each number. */
function sortable(text) {
  return fold(text).replace(/[0-9]+/g, (digits) => {
    const number = digits.replace(/^0+/, "");
    return String.fromCharCode(0x30 + Math.min(number.length, 16)) + number;
  });
}

/** Compares by code points, which is the order of UTF-8. */
function compare(a, b) {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (at === a.length || at === b.length) return a.length - b.length;
  // In UTF-16, surrogates stand before U+E000, but mean more than U+FFFF.
  const rank = (unit) => unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
  return rank(a.charCodeAt(at)) - rank(b.charCodeAt(at));
}

/** Compares names without regard to case, and those that are then alike as they are. As `GeneticFile.details` in Swift. */
function compareNames(a, b) {
  // Each character by itself: at the end of a word, a capital sigma would become another letter.
  const lowercase = (text) => Array.from(text, (character) => character.toLowerCase()).join("");
  const order = (one, other) => compare(one.normalize("NFC"), other.normalize("NFC"));
  return order(lowercase(a), lowercase(b)) || order(a, b);
}

/** The longest list that is read, in bytes: ten thousand files are a fraction of it. */
const MAXIMUM_BYTES = 16 * 1024 * 1024;

/** The address if a page may link to it, or null: https or the page's own origin, without a password. */
function safeAddress(text) {
  if (text === null || !URL.canParse(text, document.baseURI)) return null;
  const { protocol, origin, username, password, href } = new URL(text, document.baseURI);
  // The origin of a script is "null", and so may be the page's: a sandboxed frame's is.
  const isSafe = protocol === "https:" || protocol === "http:" && origin === location.origin;
  return isSafe && !username && !password ? href : null;
}

/** Fetches a list. The status is looked at first, words in the body never (W21). */
async function fetchFiles(source, signal) {
  let response, body;
  try {
    response = await fetch(source, { headers: { Accept: "application/json" }, signal });
    body = await boundedText(response, MAXIMUM_BYTES);
  } catch (error) {
    if (error instanceof RangeError) throw new Problem("answer", "answer", { status: response.status });
    throw new Problem("transport", signal.reason?.name === "TimeoutError" ? "timeout" : "network");
  }
  let answer;
  try {
    answer = JSON.parse(body);
  } catch { /* Undefined, which no JSON is. */ }
  const { ok, status } = response;
  if (!ok) {
    const [kind, reason] = status === 401 || status === 403 ? ["token", "expired"]
      : status === 429 ? ["transport", "too_many"] : [502, 503, 504].includes(status) ? ["transport", "network"]
      : ["transport", "status"];
    throw new Problem(kind, reason, { status, detail: reason === "status" ? serverMessage(answer) : null });
  }
  if (answer === undefined) throw new Problem("answer", "answer", { status });
  return answer;
}

// MARK: - Arranging

const SEGMENTS = {
  own: ["uploaded", "shared", "from_apps", "altruist", "other"],
  sample: ["all", "men", "women", "unstated"],
};

const ORDERS = ["service", "name", "newest", "oldest", "category"];

/**
 * The files of one answer, grouped (4.3, W31): every sample is under All, one without a known sex under Not stated,
 * and an unknown category under Other.
 */
class Catalogue {
  /** `shown(file)` has the words for a category and a sex in place of the service's: `{ category, sexes }`. A search finds them, too. */
  constructor(files = [], skipped = 0, shown = () => ({ category: null, sexes: [] })) {
    this.skipped = skipped;
    this.shown = shown;
    this.tabs = { own: files.filter((file) => !file.isSample), sample: files.filter((file) => file.isSample) };
    for (const tab of Object.values(this.tabs)) markRepeats(tab);
    this.files = files;
  }

  /** The segments of a tab that have files, with how many there are and how many of them match. */
  segments(tab, search) {
    const matches = matcher(search, this.shown);
    return SEGMENTS[tab].map((key) => {
      const files = this.tabs[tab].filter((file) => isIn(file, key));
      return { key, total: files.length, count: files.filter(matches).length };
    }).filter((segment) => segment.total > 0);
  }

  matching(tab, search) {
    return this.tabs[tab].filter(matcher(search, this.shown));
  }

  /** What the list shows. Files that compare equal keep the server's order. */
  list(tab, segment, search, order) {
    const files = this.matching(tab, search).filter((file) => isIn(file, segment));
    const byName = (a, b) => compare(a.sortKey ??= sortable(a.title), b.sortKey ??= sortable(b.title));
    const byDate = (sign) => (a, b) =>
      b.added.isKnown - a.added.isKnown || a.added.isKnown && sign * compare(a.added.text, b.added.text) || 0;
    const place = (file) => SEGMENTS[tab].indexOf(tab === "own" ? file.segment : file.sex);
    const kind = (file) => `${fold(file.type ?? "")}\u0001${fold(file.subtype ?? "")}`;
    const byCategory = (a, b) => place(a) - place(b) || compare(kind(a), kind(b)) || byName(a, b);
    const comparison = { name: byName, newest: byDate(-1), oldest: byDate(1), category: byCategory }[order];
    return comparison ? files.sort(comparison) : files;
  }

  /** Where a file is: among one's own first, otherwise among all samples (4.5). */
  find(id) {
    const file = [...this.tabs.own, ...this.tabs.sample].find((file) => file.id === id);
    if (!file) return null;
    return file.isSample ? { file, tab: "sample", segment: "all" } : { file, tab: "own", segment: file.segment };
  }
}

function isIn(file, segment) {
  return segment === "all" || segment === (file.isSample ? file.sex : file.segment);
}

/** Files that share a title show their ids too, for only the id identifies (4.1, W37). */
function markRepeats(files) {
  const counts = new Map();
  for (const file of files) counts.set(file.title, (counts.get(file.title) ?? 0) + 1);
  for (const file of files) file.repeats = counts.get(file.title) > 1;
}

/** The words of a text, folded. */
function wordsOf(text) {
  // Folding makes a space of every other blank.
  return fold(text).split(/[\t-\r ]+/).filter(Boolean);
}

/** Whether every searched word is somewhere in a file's fields, or begins a word for its sex: "male" is not found in "Female". */
function matcher(search, shown) {
  const words = wordsOf(search);
  if (words.length === 0) return () => true;
  return (file) => {
    // Folding 5,000 files takes a while, so it waits for the first search.
    if (file.haystack === undefined) {
      const { category, sexes } = shown(file);
      file.haystack = fold([file.name ?? file.id, file.persona, file.description, file.type, file.subtype, file.population,
                            file.extension, file.category, file.id, category].filter(Boolean).join("\n"));
      file.sexes = wordsOf([file.sexWord, ...sexes].filter(Boolean).join(" "));
    }
    return words.every((word) => file.haystack.includes(word) || file.sexes.some((sex) => sex.startsWith(word)));
  };
}

// MARK: - Remembering

/** The choice of last time, in this browser, under the app's key (D19). A browser that keeps nothing is no error. */
class Memory {
  constructor(key) {
    this.key = `file-selector:${key}`;
    this.isWanted = key !== null;
  }

  #try(work) {
    try {
      return this.isWanted ? work() : null;
    } catch {
      return null;
    }
  }

  read() {
    const kept = this.#try(() => JSON.parse(localStorage.getItem(this.key)));
    const id = readIdentifier(kept?.id);
    return id === null ? null : { id, name: readText(kept.name) ?? id };
  }

  write(choice) {
    this.#try(() => localStorage.setItem(this.key, JSON.stringify(choice)));
  }

  erase() {
    this.#try(() => localStorage.removeItem(this.key));
  }
}

// MARK: - Building blocks

function drawing(tag, attributes, ...parts) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...parts);
  return made;
}

const ICONS = {
  close: "M5 5l10 10M15 5L5 15",
  back: "M12.5 4.5L7 10l5.5 5.5",
  info: "M10 9v5M10 6.2v.1M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15",
  help: "M7.6 7.6a2.4 2.4 0 1 1 3.6 2.1c-.8.5-1.2.9-1.2 1.8M10 14v.1M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15",
  search: "M8.5 3a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M12.7 12.7L17 17",
  refresh: "M16 10a6 6 0 1 1-1.8-4.3M16.5 2.8v3.4h-3.4",
  chevron: "M6 8l4 4 4-4",
  person: "M10 3.2a3.3 3.3 0 1 0 0 6.6a3.3 3.3 0 1 0 0-6.6M3.5 17c.6-3.4 3.2-5 6.5-5s5.9 1.6 6.5 5",
  people: "M7.5 4a2.8 2.8 0 1 0 0 5.6a2.8 2.8 0 1 0 0-5.6M2 16.5c.5-3 2.6-4.4 5.5-4.4s5 1.4 5.5 4.4M12.8 4.3a2.7 2.7 0 0 1 0 5.1M14.8 12.4c1.8.6 2.9 2 3.2 4.1",
  file: "M5.5 2.8h5.8l3.7 3.7v10.7h-9.5zM11 3v3.8h3.8",
};

function icon(name) {
  return drawing("svg", { viewBox: "0 0 20 20", "aria-hidden": "true", class: name }, drawing("path", { d: ICONS[name] }));
}

/** Text from elsewhere, kept from turning the words around it in another direction. */
function isolated(text) {
  return element("bdi", text);
}

// MARK: - Pictures

/** What a sample's picture is drawn from: a hue, the arcs of a ring, an initial. One id has one picture. As `PersonaPicture` in Swift. */
export function readPicture(id, name) {
  let state = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(id)) state = Math.imul(state ^ byte, 0x01000193) >>> 0;
  state ||= 1;
  const next = (count) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ state << 5) >>> 0;
    return state % count;
  };
  const hue = next(360);
  const arcs = Array.from({ length: LOOK.picture.arcs }, () => ({ gap: 5 + next(6), sweep: 14 + next(40), weight: 1 + next(3) }));
  const initial = name?.match(/[\p{L}\p{N}]/u)?.[0].toUpperCase() ?? "";
  return { hue, arcs, initial };
}

function picture(file) {
  const { hue, arcs, initial } = readPicture(file.id, file.persona);
  const total = arcs.reduce((sum, { gap, sweep }) => sum + gap + sweep, 0);
  const point = (turn) => [22 + LOOK.picture.ring * Math.sin(turn), 22 - LOOK.picture.ring * Math.cos(turn)].map((value) => value.toFixed(2)).join(" ");
  let at = 0;
  const ring = arcs.map(({ gap, sweep, weight }) => {
    const [start, end] = [at + gap, at + gap + sweep].map((part) => part / total * 2 * Math.PI);
    at += gap + sweep;
    const isLong = end - start > Math.PI ? 1 : 0;
    return drawing("path", { d: `M${point(start)}A${LOOK.picture.ring} ${LOOK.picture.ring} 0 ${isLong} 1 ${point(end)}`, "stroke-width": weight + .6 });
  });
  const letter = drawing("text", { x: 22, y: 22, "text-anchor": "middle", "dominant-baseline": "central" }, initial);
  const drawn = drawing("svg", { viewBox: "0 0 44 44", "aria-hidden": "true" }, ...ring, letter);
  const made = element("span.picture", { "aria-hidden": "true" }, element("slot", { name: `picture-${file.id}` }, drawn));
  made.style.setProperty("--hue", String(hue));
  return made;
}

// MARK: - Looks

const sheet = new CSSStyleSheet();
sheet.replaceSync(`
:host{display:block;container-type:inline-size;min-width:min(100%,16rem);font-size:1rem;line-height:1.5;
  text-align:start}
:host([modal]){display:contents}
:host([hidden]){display:none}
*{box-sizing:border-box}
[hidden]{display:none !important}
h2,h3,p,ol,dl,dd{margin:0}

.card{${COLORS};
  --tint:color-mix(in srgb,var(--accent) 9%,var(--card));--wash:color-mix(in srgb,var(--ink) 4%,var(--card));
  container-type:inline-size;display:flex;flex-direction:column;background:var(--card);color:var(--ink);border:1px solid var(--line);
  border-radius:${LOOK.radius / 16}rem;overflow:clip;overflow-wrap:anywhere;box-shadow:0 1px 2px rgb(16 24 32 / .05)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
svg{width:1.25em;height:1.25em;flex:none;fill:none;stroke:currentColor;stroke-width:1.6;
  stroke-linecap:round;stroke-linejoin:round}
svg.back:dir(rtl){transform:scaleX(-1)}
.quiet{color:var(--quiet);font-size:.9rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}

button,select,input{font:inherit;color:inherit}
button,.button{display:inline-block;min-height:${LOOK.control / 16}rem;padding:.55rem 1.1rem;border:1px solid var(--accent);border-radius:.6rem;
  background:var(--accent);color:var(--accent-ink);font-weight:600;line-height:1.4;text-align:center;text-decoration:none;cursor:pointer;
  touch-action:manipulation}
button:hover:not(:disabled),.button:hover{filter:brightness(1.08)}
button.second,.button.second{background:var(--card);border-color:var(--line);color:var(--ink)}
button.second:hover:not(:disabled),.button.second:hover{filter:none;background:var(--wash);border-color:var(--field)}
button:disabled{background:var(--wash);border-color:var(--line);color:var(--quiet);cursor:default}
button.link{min-height:1.75rem;padding:0 .25rem;border:0;background:none;color:var(--accent);font-weight:500;
  text-decoration:underline;text-underline-offset:.15em}
button.icon{display:grid;place-items:center;width:${LOOK.control / 16}rem;padding:0;flex:none;border-color:transparent;
  background:transparent;color:var(--quiet)}
button.icon:hover:not(:disabled){filter:none;background:var(--wash);color:var(--ink)}

.bar{display:flex;flex:none;align-items:center;gap:.15rem;padding:.6rem .7rem;padding-inline-start:1.25rem}
.bar:has(button.back:not([hidden])){padding-inline-start:.4rem}
.bar h2{flex:1;min-width:0;font-size:1.15rem;font-weight:650;line-height:1.3;letter-spacing:-.01em}
.body{display:flex;flex-direction:column;min-height:0}

.pane{padding:clamp(1.5rem,8cqi,3.5rem) 1.25rem;display:grid;gap:.75rem;justify-items:center;text-align:center;
  border-top:1px solid var(--line)}
.pane h3{font-size:1.1rem;text-wrap:balance}
.message{display:grid;gap:.75rem;justify-items:center}
.pane p{max-width:28rem;text-wrap:pretty}
.pane :is(button,.button){margin-top:.5rem}
.pane>svg{width:2.25rem;height:2.25rem;color:var(--quiet);stroke-width:1.2}
.said{padding:.4rem .75rem;border-radius:.4rem;background:var(--bad-tint);color:var(--bad);font-size:.9rem}

.loading{padding:1rem 1.25rem 1.5rem;border-top:1px solid var(--line)}
.loading p{margin-bottom:.75rem}
.loading::after{content:"";display:block;height:15rem;opacity:.6;background:repeating-linear-gradient(
  var(--line) 0 1px,transparent 1px 1.6rem,var(--line) 1.6rem 2.1rem,transparent 2.1rem 3.7rem)}
.loading::after,.turning{animation:breathe 1.8s ease-in-out infinite}
@keyframes breathe{50%{opacity:.3}}

.intro{position:relative;isolation:isolate;flex:1;align-content:center}
.question{font-size:1.125rem;line-height:1.45}
.choices{display:grid;gap:.75rem;width:min(100%,34rem);margin-top:.75rem}
.choices button{display:flex;align-items:center;gap:1rem;margin:0;padding:1.1rem;text-align:start;
  background:var(--card);color:var(--ink);border-color:var(--line);border-radius:.85rem;font-weight:400;
  box-shadow:0 1px 2px rgb(16 24 32 / .06)}
.choices button:hover:not(:disabled){filter:none;border-color:var(--accent);background:var(--tint)}
.choices i{display:grid;place-items:center;flex:none;width:3rem;height:3rem;border-radius:50%;background:var(--tint);color:var(--accent)}
.choices svg{width:1.6rem;height:1.6rem}
.choices b{display:block;font-weight:650}
.choices small{display:block;font-size:.9rem;color:var(--quiet)}
::slotted([slot=film]){position:absolute;inset:0;z-index:-2;width:100%;height:100%;object-fit:cover}
.filmed::after{content:"";position:absolute;inset:0;z-index:-1;background:rgb(12 20 22 / .65)}
.filmed>.question,.pane.filmed>.link{color:#fff;outline-color:#fff}
.notices{display:grid;gap:.5rem;padding:0 1.25rem .75rem}
.notices>p{padding:.65rem .9rem;border-radius:.6rem;background:var(--tint);font-size:.92rem;text-wrap:pretty}
.notices>.stale{background:var(--warn-tint)}
.notices a{color:var(--accent)}
.tabs{display:flex;padding-inline:1rem;border-bottom:1px solid var(--line);background:var(--card)}
.tabs button{flex:0 1 auto;padding:.5rem .75rem;border:0;border-bottom:3px solid transparent;
  border-radius:.4rem .4rem 0 0;background:none;color:var(--quiet);font-weight:500;margin-bottom:-1px}
.tabs button:hover:not(:disabled){filter:none;color:var(--ink)}
.tabs [aria-selected=true]{color:var(--ink);border-color:var(--accent);font-weight:650}
.tabs button:focus-visible{outline-offset:-3px}
.number{unicode-bidi:isolate;margin-inline-start:.35rem;color:var(--quiet);font-size:.85em;font-weight:400;font-variant-numeric:tabular-nums}
.tabs button:disabled{background:none;border-color:transparent}

.tools{display:grid;grid-template-columns:1fr auto auto;gap:.5rem;align-items:center;padding:.9rem 1.25rem 0}
.search{position:relative;min-width:0}
.search svg{position:absolute;top:.75rem;inset-inline-start:.75rem;color:var(--quiet);
  pointer-events:none}
.tools input,.tools select{width:100%;min-height:${LOOK.control / 16}rem;border:1px solid var(--field);border-radius:.6rem;
  background:var(--card)}
.tools input{padding:.4rem;padding-inline:2.5rem .5rem;appearance:none}
.tools input::-webkit-search-cancel-button{appearance:none;width:1rem;height:1rem;margin:0 .25rem;color:var(--quiet);cursor:pointer;
  background:linear-gradient(45deg,transparent 46%,currentColor 46% 54%,transparent 54%),linear-gradient(-45deg,transparent 46%,currentColor 46% 54%,transparent 54%)}
@media (forced-colors:active){.tools input::-webkit-search-cancel-button{appearance:auto;background:none}}
.tools input::placeholder{color:var(--quiet);opacity:1}
/* Its icon stands above those of the rows. */
.tools button.refresh{margin-inline-end:-.65rem;outline-offset:0}
.sorting{position:relative;display:flex;align-items:center;gap:.5rem;min-width:0}
.sorting select{appearance:none;padding:.4rem .75rem;padding-inline-end:2rem;text-overflow:ellipsis;cursor:pointer}
.sorting svg{position:absolute;inset-inline-end:.5rem;color:var(--quiet);pointer-events:none}
.segments{display:flex;flex-wrap:wrap;gap:.4rem;padding:.9rem 1.25rem 0}
.segments label{position:relative;display:flex;align-items:center;padding:.25rem .85rem;min-height:2.1rem;border:1px solid var(--line);
  border-radius:99rem;font-size:.92rem;cursor:pointer}
.segments label:has(:checked){border-color:var(--accent);background:var(--tint);font-weight:600}
.segments input{appearance:none;position:absolute;inset:-1px;margin:0;border-radius:99rem;cursor:pointer}
.about{padding:.9rem 1.25rem 0;text-wrap:pretty}
.count{padding:.7rem 1.25rem .55rem;font-variant-numeric:tabular-nums}

.list{position:relative;isolation:isolate;overflow:auto;overflow-anchor:none;box-shadow:0 -1px var(--line),0 1px var(--line);
  max-height:var(--file-selector-list-height,clamp(13rem,44vh,27rem))}
/* The rows reach every edge, and are drawn below the ring of the focus. */
.list:focus-visible{outline-offset:-3px}
.sizer{position:relative;z-index:-1;overflow:clip}
.row{position:absolute;inset-inline:0;top:0;min-height:4.25rem;display:flex;align-items:center;
  gap:.9rem;padding:.65rem .6rem;padding-inline-start:1.25rem;cursor:pointer;contain:layout style paint}
.row::after{content:"";position:absolute;inset:auto 1.25rem 0;border-bottom:1px solid var(--line)}
@media (hover:hover){.row:hover{background:var(--wash)}}
.row[aria-selected=true]{background:var(--tint)}
.list:focus-visible .row.active{outline:2px solid var(--accent);outline-offset:-8px;border-radius:.6rem}
.probe{visibility:hidden;pointer-events:none}
.mark{flex:none;width:1.3rem;height:1.3rem;border:2px solid var(--field);border-radius:50%;background:var(--card)}
[aria-selected=true]>.mark{border:.42rem solid var(--accent)}
.picture{flex:none;display:block;width:2.75rem;height:2.75rem;border-radius:50%;overflow:clip;color:light-dark(hsl(var(--hue) ${LOOK.picture.saturation}% 26%),hsl(var(--hue) ${LOOK.picture.saturation}% 84%));
  background:light-dark(hsl(var(--hue) ${LOOK.picture.saturation}% 93%),hsl(var(--hue) 26% 22%))}
.picture svg{width:100%;height:100%;stroke-linecap:butt}
.picture path{stroke:light-dark(hsl(var(--hue) ${LOOK.picture.saturation}% 46%),hsl(var(--hue) ${LOOK.picture.saturation}% 62%))}
.picture text{fill:currentColor;stroke:none;font-size:15px;font-weight:650}
::slotted([slot^=picture]){width:2.75rem;height:2.75rem;object-fit:cover}
.text{flex:1;min-width:0}
.text>span{display:block;line-height:1.4}
.name{font-weight:600}
.absent{font-style:italic;font-weight:400;color:var(--quiet)}
.note{font-size:.92rem}
.meta{color:var(--quiet);font-size:.85rem}
/* Before the first fact of each line, the separator is cut off. */
.meta{overflow-x:clip}
.meta>span{display:block;margin-inline-start:-.65em}
.fact{position:relative;display:inline-block;max-width:100%;padding-inline-start:.65em}
.fact::before{position:absolute;inset-inline-start:0;content:"·";content:"·" / ""}
.more{display:grid;place-items:center;flex:none;width:2.75rem;height:2.75rem;border-radius:.5rem;color:var(--quiet)}
.more:hover{color:var(--ink)}
.nothing{padding-block:2rem;margin-top:.9rem}
.row:last-child::after{border:0}

.foot{display:flex;flex:none;flex-wrap:wrap;align-items:center;gap:.6rem;padding:.9rem 1.25rem;background:var(--card)}
.chosen{flex:1 1 12rem;min-width:0;max-height:10rem;overflow:clip;line-height:1.35}
.chosen span{display:block}
.foot .alarm{flex-basis:100%;color:var(--bad);font-weight:600}
.alarm:empty{display:none}
.actions{display:flex;gap:.6rem}

[popover],dialog{border:1px solid var(--line);border-radius:.85rem;background:var(--card);color:var(--ink);
  box-shadow:0 .5rem 2rem rgb(0 0 0 / .22)}
[popover]{width:min(21rem,calc(100vw - 2rem));padding:1.1rem 1.25rem;font-size:.95rem}
@supports (position-area:block-end){
[popover]{inset:auto;margin:.4rem 0;max-width:calc(100% - 1rem);position-area:block-end span-inline-start}
}
[popover] h3{font-size:1rem;margin-bottom:.5rem}
[popover] ol{padding-inline-start:1.2rem}
[popover] .keys{margin-top:.75rem}
dialog{padding:0;width:min(34rem,calc(100vw - 2rem));max-height:min(42rem,calc(100dvh - 2rem));
  overflow:hidden}
dialog[open]{display:flex;flex-direction:column}
dialog::backdrop{background:rgb(12 16 20 / .5)}
dialog.details header{display:flex;align-items:center;gap:.9rem;padding:1.1rem 1.25rem .9rem;border-bottom:1px solid var(--line)}
dialog h3{font-size:1.1rem;line-height:1.35}
.fields{overflow:auto;padding:.5rem 1.25rem;min-height:0}
.fields:focus-visible{outline-offset:-3px}
.fields h4{margin:0;padding-block:.9rem .2rem;border-top:1px solid var(--line);font-size:.92rem;font-weight:600}
.fields dl div{display:grid;grid-template-columns:minmax(7rem,34%) 1fr;gap:.15rem 1rem;padding-block:.55rem}
.fields div + div{border-top:1px solid var(--line)}
.fields dt{color:var(--quiet);font-size:.92rem}
dialog.details footer{display:flex;justify-content:flex-end;padding:.8rem 1.25rem;border-top:1px solid var(--line)}

/* The sheet: the body is its only scroll area; the foot stays. */
.sheet{width:min(44rem,calc(100vw - 4rem));height:min(46rem,calc(100dvh - 4rem));max-width:none;max-height:none;border:0;padding:0;background:none;
  border-radius:${LOOK.radius / 16}rem;box-shadow:0 1.5rem 4rem rgb(8 16 24 / .3)}
.sheet .card{flex:1;min-height:0;width:100%;height:100%;border:0}
.sheet .body{flex:1;overflow:auto;overscroll-behavior:contain;overflow-anchor:none}
.sheet .list{overflow:visible;max-height:none;box-shadow:0 -1px var(--line)}
.sheet .tabs{position:sticky;top:0;z-index:1}
.sheet .row,.sheet .tools :is(button,select,input){scroll-margin-block:4rem 1rem}
.sheet .foot{border-top:1px solid var(--line)}
@media (max-width:40rem),(max-height:30rem){
.sheet{width:100vw;height:100dvh;margin:0;border-radius:0}
.sheet .card{border-radius:0}
.sheet .foot{padding-bottom:max(.9rem,env(safe-area-inset-bottom))}
.sheet .bar{padding-top:max(.6rem,env(safe-area-inset-top))}
}
@media (prefers-reduced-motion:no-preference){
.sheet[open]{animation:rise .28s cubic-bezier(.2,.8,.2,1)}
.sheet::backdrop{animation:appear .2s}
@keyframes rise{from{transform:translateY(2rem);opacity:0}}
@keyframes appear{from{opacity:0}}
}

@container (max-width:30rem){
.tools,.segments,.about,.count,.foot,.notices{padding-inline:1rem}
.bar{padding-inline:1rem .4rem}
.tabs{padding-inline:.5rem}
.tabs button{flex:1;padding-inline:.25rem;font-size:.95rem}
.tools{grid-template-columns:1fr auto}
.tools button.refresh{margin-inline-end:-.7rem}
.search{grid-column:1 / -1}
.row{padding-inline:1rem .3rem;gap:.75rem}
.row::after{inset-inline:1rem}
.list{overflow:visible;max-height:none}
.keys{display:none}
@media (min-height:30rem){
.foot{position:sticky;bottom:0;z-index:1;border-top:1px solid var(--line);
  padding-bottom:max(.9rem,env(safe-area-inset-bottom))}
.row,button,select,input{scroll-margin-block:1rem 9rem}
.sheet .row,.sheet .tools :is(button,select,input){scroll-margin-block:4rem 1rem}
.foot button{scroll-margin:0}
}
.chosen{flex-basis:100%;max-height:8.5rem}
.actions{width:100%}
.actions .go{flex:1}
.fields dl div{grid-template-columns:1fr}
}
@media (hover:none){.keys{display:none}}
@container (min-width:36rem){
.choices{grid-template-columns:1fr 1fr}
.choices button{flex-direction:column;text-align:center;gap:.6rem;padding-block:1.5rem}
}
@media (prefers-reduced-motion:reduce){*,::after,::backdrop{animation:none !important}}
@media (forced-colors:active){
.segments label:has(:checked),.tabs [aria-selected=true]{border-color:Highlight}
.segments label:has(:checked){border-width:3px}
.tabs [aria-selected=false]{border-color:Canvas}
.picture{border:1px solid}
}
`);

// MARK: - A long list

/** Pixels drawn beyond either edge, for fast scrolling. */
const OVERSCAN = 400;
/** How long letters typed one after another count as one word. */
const TYPING_PAUSE = 700;

/**
 * A listbox of which only the rows in view exist (5,000 files cost as many elements as 20).
 *
 * Rows are as high as their text. Until one is drawn its height is an estimate; what is in view stays in its place when the
 * heights above become known.
 *
 * The focus stays on the listbox; the active row, which `aria-activedescendant` names, always exists. Rows stand in their
 * order, for screen readers that read on; `aria-posinset` and `aria-setsize` tell of the others.
 */
class RowWindow {
  /** `actions`: `fill(row, file)`, `isSelected(file)`, `toggle(file)`, `finish(file)`, `details(file)`, `key(file)`. */
  constructor(actions) {
    this.actions = actions;
    this.items = [];
    this.active = 0;
    this.rows = new Map();
    this.heights = [];
    this.tops = [0];
    this.width = 0;
    this.estimate = 0;
    this.awaited = null;
    this.typed = { text: "", at: -Infinity };
    this.probe = element("div.row.probe", { "aria-hidden": "true" });
    this.sizer = element("div.sizer", { role: "presentation" }, this.probe);
    this.box = element("div.list", {
      role: "listbox", tabindex: "0", "aria-keyshortcuts": "Alt+Enter",
      click: (event) => this.onClick(event), keydown: (event) => this.onKey(event),
    }, this.sizer);
    let isQueued = false;
    this.onScroll = () => {
      if (isQueued) return;
      isQueued = true;
      requestAnimationFrame(() => { isQueued = false; this.draw(); });
    };
    this.box.addEventListener("scroll", this.onScroll, { passive: true });
    // Larger text, a narrower page or the end of `hidden` change what fits.
    new ResizeObserver(() => this.measure()).observe(this.probe);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** What scrolls the list: itself, the sheet around it, or the page (null). */
  get port() {
    if (getComputedStyle(this.box).overflowY !== "visible") return this.box;
    return this.box.closest(".sheet .body");
  }

  /** The part of the list in view, in pixels from its top. */
  get view() {
    const { port } = this;
    const top = port?.getBoundingClientRect().top ?? 0;
    return { port, top: Math.max(0, top - this.sizer.getBoundingClientRect().top),
             height: this.box.clientHeight && (port?.clientHeight ?? innerHeight) };
  }

  /** Shows other items, with one active and in the middle; -1 is the top. `scrollsPage` lets the page scroll there. */
  show(items, index, scrollsPage = false) {
    this.items = items;
    this.active = Math.max(index, 0);
    for (const row of this.rows.keys()) this.retire(row);
    ({ width: this.width, height: this.estimate } = this.probe.getBoundingClientRect());
    this.heights = items.map(() => this.estimate);
    this.layOut();
    if (scrollsPage || this.port === this.box) this.reveal(this.active, "middle");
    else this.draw();
  }

  /** Where rows begin, by the heights that are known or estimated. */
  layOut() {
    let top = 0;
    this.tops = [0, ...this.heights.map((height) => top += height)];
    this.sizer.style.blockSize = `${top}px`;
    for (const [index, row] of this.rows) row.style.transform = `translateY(${this.tops[index]}px)`;
  }

  measure() {
    const { width, height } = this.probe.getBoundingClientRect();
    if (width !== this.width || height !== this.estimate) this.show(this.items, this.active);
  }

  /** Scrolls a row into view: to the middle, or no further than needed. */
  reveal(index, where) {
    if (this.box.clientHeight === 0 || this.estimate === 0) {
      this.awaited = index;
      return;
    }
    // The second time, the heights around the row are known.
    for (let pass = 0; pass < 3; pass += 1) {
      this.draw();
      this.rows.get(index)?.scrollIntoView({ block: where === "middle" ? "center" : "nearest" });
    }
    this.draw();
  }

  /** The row at a distance from the list's top. */
  at(distance) {
    let [low, high] = [0, Math.max(0, this.items.length - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= distance) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Makes the rows in view exist, and no others but the active one. */
  draw() {
    if (this.view.height === 0 || this.estimate === 0) return;
    if (this.awaited !== null) {
      const index = this.awaited;
      this.awaited = null;
      this.reveal(index, "middle");
      return;
    }
    for (let pass = 0; pass < 6; pass += 1) {
      const { port, top, height } = this.view;
      this.place(this.at(top - OVERSCAN), Math.min(this.items.length, this.at(top + height + OVERSCAN) + 1));
      const [anchor, before] = [this.at(top), this.tops[this.at(top)]];
      if (!this.learnHeights()) break;
      this.layOut();
      const shift = this.tops[anchor] - before;
      if (top > 0 && shift !== 0) (port ?? document.scrollingElement).scrollTop += shift;
    }
    this.mark();
  }

  place(first, last) {
    const wanted = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset);
    if (this.active < this.items.length && this.active < first) wanted.unshift(this.active);
    if (this.active < this.items.length && this.active >= last) wanted.push(this.active);
    const isWanted = new Set(wanted);
    for (const index of this.rows.keys()) if (!isWanted.has(index)) this.retire(index);
    let place = this.probe.nextSibling;
    for (const index of wanted) {
      const row = this.rows.get(index) ?? this.make(index);
      if (row === place) place = place.nextSibling;
      else this.sizer.insertBefore(row, place);
    }
  }

  /** Reads the heights of the rows that exist; whether one was not as estimated. */
  learnHeights() {
    let isNew = false;
    for (const [index, row] of this.rows) {
      const { height } = row.getBoundingClientRect();
      if (Math.abs(height - this.heights[index]) < .5) continue;
      this.heights[index] = height;
      isNew = true;
    }
    return isNew;
  }

  make(index) {
    const row = element("div.row", { role: "option", id: `row-${index}`, "data-index": String(index),
      "aria-posinset": index + 1, "aria-setsize": this.items.length });
    row.style.transform = `translateY(${this.tops[index]}px)`;
    this.actions.fill(row, this.items[index]);
    this.rows.set(index, row);
    return row;
  }

  retire(index) {
    this.rows.get(index).remove();
    this.rows.delete(index);
  }

  /** Shows which row is selected and which is active. */
  mark() {
    for (const [index, row] of this.rows) {
      row.setAttribute("aria-selected", String(this.actions.isSelected(this.items[index])));
      row.classList.toggle("active", index === this.active);
    }
    setAttribute(this.box, "aria-activedescendant", this.rows.has(this.active) && `row-${this.active}`);
  }

  move(index) {
    this.active = Math.min(Math.max(index, 0), this.items.length - 1);
    this.reveal(this.active, "near");
  }

  onClick(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    this.active = Number(row.dataset.index);
    const file = this.items[this.active];
    this.mark();
    if (event.target.closest(".more")) this.actions.details(file);
    // A finger that taps twice takes its choice back.
    else if (event.detail < 2 || event.pointerType === "touch") this.actions.toggle(file);
    // A third click adds nothing to a double click.
    else if (event.detail === 2) this.actions.finish(file);
  }

  onKey(event) {
    if (this.items.length === 0 || event.ctrlKey || event.metaKey) return;
    const { height } = this.view;
    const moves = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: this.items.length - 1,
                    PageDown: Math.max(this.active + 1, this.at(this.tops[this.active] + height) - 1),
                    PageUp: Math.min(this.active - 1, this.at(this.tops[this.active] - height) + 1) };
    const isTyping = event.timeStamp - this.typed.at < TYPING_PAUSE;
    if (event.key === "Enter" && event.altKey) this.actions.details(this.items[this.active]);
    else if (event.altKey) return;
    else if (event.key in moves) this.move(moves[event.key]);
    else if (event.key === "Enter" || (event.key === " " && !(isTyping && this.type(" ", true, event.timeStamp)))) {
      this.actions.toggle(this.items[this.active]);
    } else if ([...event.key].length === 1) this.type(event.key, isTyping, event.timeStamp);
    else return;
    event.preventDefault();
  }

  /** Jumps to the next name that starts with what was typed; a repeated letter goes through its names. Whether there is one. */
  type(letter, isTyping, at) {
    const text = isTyping ? this.typed.text + fold(letter) : fold(letter);
    this.typed = { text, at };
    const find = (start, prefix) => {
      for (let step = 0; step < this.items.length; step += 1) {
        const index = (start + step) % this.items.length;
        if (this.actions.key(this.items[index]).startsWith(prefix)) return index;
      }
      return -1;
    };
    let index = find(text.length === 1 ? this.active + 1 : this.active, text);
    if (index < 0 && [...text].every((other) => other === text[0])) index = find(this.active + 1, text[0]);
    if (index >= 0) this.move(index);
    return index >= 0;
  }
}

// MARK: - The element

/** Seconds until a load counts as failed (9.4). */
const LOAD_TIMEOUT = 20;
/** How long typing in the search must pause before its count is read out. */
const ANNOUNCE_PAUSE = 350;
/** How often the shown age of a stale list is updated, in milliseconds. */
const AGE_PAUSE = 15_000;
const TABS = ["own", "sample"];
const UPLOAD = "https://sequencing.com/";

/** The details that have a label, in their order. */
const FIELDS = {
  Name: "name", FriendlyDesc1: "person", FriendlyDesc2: "description", FileType: "type", FileSubType: "subtype", Ext: "extension",
  DateAdded: "added", FileCategory: "category", Population: "population", Sex: "sex", Id: "id",
};

export class FileSelector extends HTMLElement {
  static formAssociated = true;
  static observedAttributes = ["src", "selected", "closable", "required", "name", "name-field", "upload-href", "sign-in-href"];

  #internals = this.attachInternals();
  #words = new Words(ENGLISH);
  #parts = {};
  #list;
  #phase = "loading"; // loading, failed, ready
  #isRefreshing = false;
  #problem = null; // why there is no list, or why it could not be refreshed
  #loadedAt = 0;
  #catalogue = new Catalogue();
  #view = { screen: "intro", tab: "own", segment: { own: "uploaded", sample: "all" }, search: "", order: "service" };
  #isListStale = true;
  #lost = null; // the id of the selected file that a refresh or another address took away, until another is selected
  #isFound = false; // a file was selected by id: the list scrolls to it
  #chosen = null;
  #earlier = null; // the file that was selected at another address, until there is a list of the new one
  #wanted = null; // an id to select as soon as there is a list
  #remembered = null; // { id, name } of last time
  #asksForChoice = false;
  #loading = null; // the AbortController of the request under way
  #isGiven = false; // whether the list came through `files`
  #announcement = 0;
  #aging = 0;
  #scrolling = null; // the page's own `overflow` while the sheet is open
  #isFilmWanted = null; // until the person says so, the film plays if motion is welcome
  #onVisibility = () => this.#update();

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [sheet];
    this.#list = new RowWindow({
      fill: (row, file) => this.#fill(row, file),
      isSelected: (file) => file.id === this.#chosen?.id,
      toggle: (file) => this.#choose(file.id === this.#chosen?.id ? null : this.#meant(file)),
      finish: (file) => {
        this.#choose(this.#meant(file));
        this.#continue();
      },
      details: (file) => this.#openDetails(file),
      key: (file) => (file.key ??= fold(file.title)),
    });
    this.addEventListener("invalid", (event) => this.#demandChoice(event));
  }

  // MARK: Life

  connectedCallback() {
    this.#build();
    document.addEventListener("visibilitychange", this.#onVisibility);
    // Whichever part of the page scrolls: the event does not bubble, but is captured.
    addEventListener("scroll", this.#list.onScroll, { capture: true, passive: true });
    addEventListener("resize", this.#list.onScroll);
    // A page may have set properties before this script had arrived.
    for (const property of ["files", "selected"].filter((name) => Object.hasOwn(this, name))) {
      const value = this[property];
      delete this[property];
      this[property] = value;
    }
    if (this.#phase === "loading" && !this.#isGiven && this.hasAttribute("src") && !this.#isSheet) this.#load();
    // Off the page no row has a size.
    this.#isListStale = true;
    this.#update();
  }

  disconnectedCallback() {
    this.#endLoad();
    clearInterval(this.#aging);
    // A dialog that leaves the page stays open, but is modal no longer: put back, it could not be opened.
    this.#parts.dialog?.close();
    this.hide();
    document.removeEventListener("visibilitychange", this.#onVisibility);
    removeEventListener("scroll", this.#list.onScroll, { capture: true });
    removeEventListener("resize", this.#list.onScroll);
  }

  attributeChangedCallback(name, before, value) {
    if (name === "selected" && value) this.#wanted = readIdentifier(value);
    const hasNewAddress = name === "src" && value !== null && value !== before;
    if (hasNewAddress) {
      // The list of the old address must not arrive any more, also where the sheet is closed or the element is off the page.
      this.#endLoad();
      this.#isGiven = false;
      this.#phase = "loading";
      // Its list may lack the file, which a form must not submit then.
      this.#earlier = this.#chosen ?? this.#earlier;
      this.#chosen = null;
      this.#parts.dialog?.close();
    }
    if (!this.#parts.card) return;
    if (hasNewAddress && this.isConnected && (!this.#isSheet || this.#parts.sheet.open)) this.#load();
    if (name === "selected" && this.#wanted !== null && this.#phase === "ready") this.#place();
    this.#update();
  }

  formResetCallback() {
    this.#choose(null, { isQuiet: true });
  }

  // MARK: What an app sees

  get files() {
    return this.#phase === "ready" ? this.#catalogue.files.map((file) => file.record) : null;
  }

  set files(answer) {
    this.#endLoad();
    this.#isGiven = true;
    if (answer === null || answer === undefined) this.#wait();
    else if (answer instanceof Error) {
      this.#fail(new Problem(answer.kind ?? "transport", answer.kind === "token" ? "expired" : "app", { detail: answer.message }));
    } else this.#accept(answer);
  }

  get selected() {
    return this.#chosen?.id ?? null;
  }

  set selected(id) {
    if (id) return this.setAttribute("selected", id);
    this.removeAttribute("selected");
    this.#wanted = null;
    this.#choose(null, { isQuiet: true });
  }

  get selectedFile() {
    return this.#chosen?.record ?? null;
  }

  get selectedName() {
    return this.#chosen && displayName(this.#chosen);
  }

  /** Opens the sheet, with a list that is fetched now unless there is one. */
  show() {
    const { sheet } = this.#parts;
    if (!sheet || sheet.open) return;
    sheet.showModal();
    // The page behind a sheet stays where it is.
    const { style } = document.documentElement;
    this.#scrolling = style.overflow;
    style.overflow = "hidden";
    if (this.#phase !== "ready" && !this.#loading && !this.#isGiven && this.hasAttribute("src")) this.#load();
    this.#isListStale = true;
    this.#update();
    this.focus({ preventScroll: true });
  }

  hide() {
    this.#parts.sheet?.close();
    this.#unlock();
  }

  /** Wants a fresh list; until it is there the old one stays in view. */
  refresh() {
    if (this.#loading) return;
    const mayLoad = this.#emit("refresh", null, { cancelable: true });
    if (mayLoad && !this.#isGiven && this.hasAttribute("src")) this.#load();
    else if (this.#phase === "failed") this.#wait();
  }

  /** Forgets the remembered choice; the selection of now stays. */
  forget() {
    this.#memory.erase();
    this.#remembered = null;
    this.#update();
    this.#announce(this.#say("forgotten"));
  }

  focus(options) {
    this.#mainControl()?.focus(options);
  }

  // MARK: Loading

  #wait() {
    this.#isRefreshing = this.#phase === "ready";
    if (!this.#isRefreshing) this.#phase = "loading";
    this.#announce(this.#say("loading"));
    this.#update();
  }

  /** Ends the load under way, if there is one. */
  #endLoad() {
    this.#loading?.abort();
    this.#loading = null;
    this.#isRefreshing = false;
  }

  async #load() {
    this.#endLoad();
    const loading = this.#loading = new AbortController();
    const given = Number(this.getAttribute("timeout"));
    const seconds = given > 0 && given <= 86400 ? given : LOAD_TIMEOUT;
    const signal = AbortSignal.any([loading.signal, AbortSignal.timeout(seconds * 1000)]);
    this.#wait();
    const outcome = await fetchFiles(this.getAttribute("src"), signal).catch((problem) => problem);
    // Another load, another list or the end of the element may have taken this one's place.
    if (this.#loading !== loading) return;
    this.#loading = null;
    if (outcome instanceof Problem) this.#fail(outcome);
    else this.#accept(outcome);
  }

  #accept(answer) {
    let read;
    try {
      read = readFiles(answer);
    } catch (problem) {
      return this.#fail(problem);
    }
    const isFirst = this.#phase !== "ready";
    // In place of "Loading"; a notice replaces it.
    this.#announce(this.#say("files", read.files.length));
    this.#catalogue = new Catalogue(read.files, read.skipped, (file) => ({
      // In the details, and over the list.
      category: this.#categoryOf(file), sexes: file.sex === "unstated" ? [] : [this.#sexOf(file), this.#say(file.sex)],
    }));
    this.#phase = "ready";
    this.#isRefreshing = false;
    this.#problem = null;
    this.#loadedAt = Date.now();
    this.#place(isFirst);
    this.#update();
  }

  /** A list that is there stays, with its selection: only its age is told (D20). */
  #fail(problem) {
    const isKept = this.#phase === "ready";
    if (!isKept) this.#phase = "failed";
    this.#isRefreshing = false;
    this.#problem = problem;
    this.#update();
    // An alert speaks for itself. A notice is told again where a refresh has failed as before.
    this.#announce(isKept ? this.#parts.notices?.dataset.text ?? "" : "");
    const detail = { kind: problem.kind, status: problem.status, message: this.#reason() };
    // A page that hears it may give another list.
    this.#lose(this.#earlier);
    this.#emit("error", detail);
  }

  /** Where to sign in again: null when that is not the problem, or no address is known. */
  get #signInAddress() {
    return this.#problem?.kind === "token" ? safeAddress(this.getAttribute("sign-in-href")) : null;
  }

  #reason() {
    const { reason, status } = this.#problem;
    if (reason === "expired" && !this.#signInAddress) return this.#say("reason_expired_here");
    return this.#say(`reason_${reason}`, String(status));
  }

  /** Finds what to select and open: the wish, the selection of before, last time's choice, or else the first screen. */
  #place(isFirst = false) {
    const before = this.#chosen ?? this.#earlier;
    const view = this.#view;
    let found = this.#catalogue.find(this.#wanted) ?? this.#catalogue.find(before?.id);
    this.#wanted = null;
    if (isFirst) {
      // A new address may come with another account's key: without a choice under it, that of before is told no more.
      const kept = this.#memory.read();
      this.#remembered = kept;
      if (kept && !this.hasAttribute("selected")) found ??= this.#catalogue.find(kept.id);
    }
    // On a refresh the person stays where they are.
    if (found && found.file.id !== before?.id) {
      Object.assign(view, { screen: "browse", tab: found.tab, search: "" });
      view.segment[found.tab] = found.segment;
      this.#isFound = true;
    }
    for (const tab of TABS) {
      const keys = this.#catalogue.segments(tab, "").map(({ key }) => key);
      if (!keys.includes(view.segment[tab])) view.segment[tab] = keys[0];
    }
    // With one kind of file only there is nothing to ask (D14).
    const filled = TABS.filter((tab) => this.#catalogue.tabs[tab].length > 0);
    if (filled.length === 1) Object.assign(view, { screen: "browse", tab: filled[0] });
    this.#isListStale = true;
    this.#chosen = found?.file ?? null;
    this.#asksForChoice &&= !found;
    if (found) this.#earlier = this.#lost = null;
    else this.#lose(before);
  }

  /** Tells that the selected file is gone, if there was one. */
  #lose(file) {
    this.#earlier = null;
    if (!file) return;
    this.#lost = file.id;
    this.#emit("select", this.#choice);
  }

  /** Whether there are both kinds of files. */
  get #asksFirst() {
    return TABS.every((tab) => this.#catalogue.tabs[tab].length > 0);
  }

  get #memory() {
    return new Memory(this.getAttribute("remember"));
  }

  // MARK: Choosing

  get #choice() {
    return { id: this.selected, file: this.selectedFile, displayName: this.selectedName };
  }

  #choose(file, { isQuiet = false } = {}) {
    this.#earlier = null;
    if (this.#chosen === file) return;
    this.#chosen = file;
    this.#lost = null;
    this.#asksForChoice &&= file === null;
    this.#list.mark();
    this.#update();
    if (!isQuiet) this.#emit("select", this.#choice);
  }

  /** The file that the identifier of a row means: of an own file and a sample with one identifier, the own one (4.5). */
  #meant(file) {
    return this.#catalogue.find(file.id).file;
  }

  #continue() {
    const choice = this.#choice;
    this.#memory.write({ id: choice.id, name: choice.displayName });
    // Another file's choice is no longer the last one.
    if (this.#remembered?.id !== choice.id) this.#remembered = null;
    this.#update();
    this.hide();
    this.#emit("continue", choice);
  }

  #close() {
    this.hide();
    this.#emit("close");
  }

  #emit(name, detail = null, options = {}) {
    return this.dispatchEvent(new CustomEvent(name, { detail, ...options }));
  }

  /** A form gets the id, and the display name if it asks for one (D18). */
  #setFormValue() {
    const values = new FormData();
    for (const [attribute, value] of [["name", this.selected], ["name-field", this.selectedName]]) {
      if (this.#chosen && this.getAttribute(attribute)) values.append(this.getAttribute(attribute), value);
    }
    this.#internals.setFormValue(values);
    const isMissing = this.hasAttribute("required") && !this.#chosen;
    this.#internals.setValidity({ valueMissing: isMissing }, isMissing ? this.#say("choice_required") : "");
  }

  #demandChoice(event) {
    // The browser's own bubble cannot point into a list that is partly not there.
    event.preventDefault();
    this.show();
    this.#asksForChoice = true;
    this.#update();
    this.focus();
  }

  // MARK: Building

  #say(key, ...values) {
    return this.#words.say(key, ...values);
  }

  get #isSheet() {
    return this.hasAttribute("modal");
  }

  /** Makes everything once, in the page's language; `#update` fills it. */
  #build() {
    if (this.#parts.card) return;
    this.#words = new Words(this.closest("[lang]")?.lang || ENGLISH);
    const say = (key) => this.#say(key);
    const button = (look, label, click, more = {}) => element(`button.${look}`, { type: "button", click, ...more }, label);
    const iconButton = (name, label, click, more) =>
      button(`icon.${name}`, icon(name), click, { "aria-label": say(label), ...more });
    const p = this.#parts;

    p.title = element("h2", { id: "title", tabindex: "-1" }, say("title"));
    p.back = iconButton("back", "back", () => this.#returnToIntro());
    p.close = iconButton("close", "close", () => this.#close());
    p.info = iconButton("help", "help", null, { popovertarget: "help" });
    p.help = element("div", { id: "help", popover: "auto", role: "dialog", tabindex: "-1", autofocus: true,
      "aria-labelledby": "help-title" },
      element("h3", { id: "help-title" }, say("help")),
      element("ol", ...["kind", "select", "continue"].map((step) => element("li", say(`help_${step}`)))),
      element("p.quiet.keys", say("help_keys")));

    p.loading = element("div.loading", element("p.quiet", say("loading")));
    p.message = element("div.message");
    p.retry = button("retry", "", () => this.refresh());
    p.signIn = element("a.button", say("sign_in"));
    p.trouble = element("div.pane", icon("info"), p.message, p.signIn, p.retry);

    p.film = element("slot", { name: "film", slotchange: () => this.#update() });
    p.enter = {};
    for (const [tab, drawing] of [["own", "person"], ["sample", "people"]]) {
      p.enter[tab] = button("enter", element("i", icon(drawing)), () => this.#open(tab));
      p.enter[tab].append(element("span", element("b", say(tab)), element("small", say(`${tab}_note`)), element("small")));
    }
    p.intro = element("div.pane.intro", element("p.question", say("intro_question")),
      element("div.choices", p.enter.own, p.enter.sample),
      p.filmButton = button("link", "", () => {
        this.#isFilmWanted = !this.#isFilmOn;
        this.#update();
      }), p.film);

    p.notices = element("div.notices");
    p.tabs = {};
    for (const tab of TABS) {
      p.tabs[tab] = button("tab", "", () => this.#open(tab), { role: "tab", id: tab, "aria-controls": "panel",
        keydown: (event) => this.#onTabKey(event) });
    }
    p.segments = element("div.segments", { role: "radiogroup", "aria-label": say("segments"),
      change: ({ target }) => this.#show({ segment: { ...this.#view.segment, [this.#view.tab]: target.value } }) });
    p.search = element("input", { type: "search", "aria-label": say("search"), placeholder: say("search"),
      autocomplete: "off", spellcheck: "false", enterkeyhint: "search", input: () => this.#find(p.search.value),
      keydown: (event) => this.#onSearchKey(event) });
    p.sort = element("select", { "aria-label": say("sort"), change: () => this.#show({ order: p.sort.value }) },
      ...ORDERS.map((key) => element("option", { value: key }, say(`order_${key}`))));
    p.refresh = iconButton("refresh", "refresh", () => this.refresh());
    p.count = element("p.count.quiet");
    p.about = element("p.about.quiet", say("sample_explanation"));
    p.nothingText = element("p.quiet");
    p.nothing = element("div.pane.nothing", p.nothingText, button("second", say("clear_search"), () => {
      this.#find("");
      p.search.focus();
    }));
    p.panel = element("div", { role: "tabpanel", id: "panel" }, p.about, p.segments,
      element("div.tools", element("div.search", icon("search"), p.search),
        element("div.sorting", p.sort, icon("chevron")), p.refresh),
      p.count, this.#list.box, p.nothing);
    p.tablist = element("div.tabs", { role: "tablist", "aria-label": say("tabs") }, p.tabs.own, p.tabs.sample);
    p.browse = element("div", p.tablist, p.panel);

    p.chosen = element("p.chosen");
    p.details = button("second", say("details"), () => this.#openDetails(this.#chosen), { "aria-haspopup": "dialog" });
    p.go = button("go", say("continue"), () => this.#continue());
    p.alarm = element("p.alarm", { role: "alert" });
    p.foot = element("footer.foot", p.alarm, p.chosen, element("div.actions", p.details, p.go));
    p.status = element("div.unseen", { role: "status" });

    p.detailsHead = element("header");
    p.fields = element("div.fields", { role: "group", tabindex: "0", "aria-label": say("details_title") });
    p.dialog = element("dialog.details", { "aria-labelledby": "details-title details-name",
      click: (event) => event.target === p.dialog && p.dialog.close() }, p.detailsHead, p.fields,
      element("footer", button("second", say("close"), () => p.dialog.close(), { autofocus: true })));

    p.body = element("div.body", { scroll: this.#list.onScroll }, p.loading, p.notices, p.trouble, p.intro, p.browse);
    p.bar = element("header.bar", p.back, p.title, p.info, p.close);
    p.card = element("section.card", { part: "card", "aria-labelledby": "title",
      ...this.#words.isFallback && { lang: "en" },
      ...(this.#words.isFallback || this.#words.direction === "rtl") && { dir: this.#words.direction },
      keydown: (event) => this.#onEscape(event) },
      p.bar, p.help, p.body, p.foot, p.status, p.dialog);
    if (this.#isSheet) {
      p.sheet = element("dialog.sheet", { "aria-labelledby": "title", close: () => { if (!p.sheet.open) this.#unlock(); },
        // The browser's own Escape, which would say nothing to the page.
        cancel: (event) => {
          if (event.target !== p.sheet) return;
          event.preventDefault();
          this.#close();
        } }, p.card);
    }
    this.shadowRoot.append(p.sheet ?? p.card);
  }

  #unlock() {
    if (this.#scrolling === null) return;
    document.documentElement.style.overflow = this.#scrolling;
    this.#scrolling = null;
  }

  // MARK: Showing

  /** Brings what is shown in line with the state. */
  #update() {
    const p = this.#parts;
    if (!p.card) return;
    const focused = this.shadowRoot.activeElement;
    const isReady = this.#phase === "ready";
    const isEmpty = isReady && this.#catalogue.files.length === 0;
    const isBrowsing = isReady && !isEmpty && this.#view.screen === "browse";
    p.close.hidden = !this.#isSheet && !this.hasAttribute("closable");
    p.back.hidden = !isBrowsing || !this.#asksFirst;
    p.loading.hidden = this.#phase !== "loading";
    p.trouble.hidden = !isEmpty && this.#phase !== "failed";
    p.intro.hidden = !isReady || isEmpty || isBrowsing;
    p.browse.hidden = p.foot.hidden = !isBrowsing;
    p.card.setAttribute("aria-busy", String(!isReady && p.trouble.hidden || this.#isRefreshing));
    p.refresh.classList.toggle("turning", this.#isRefreshing);
    this.#setFormValue();
    this.#updateTrouble();
    this.#updateFilm();
    this.#updateNotices();
    this.#age();
    if (!p.intro.hidden) this.#updateIntro();
    if (isBrowsing) this.#updateBrowse();
    // What had the focus may be gone: then the focus goes to what took its place.
    if (focused && (focused === p.title || focused.closest("[hidden]"))) this.focus({ preventScroll: isBrowsing });
  }

  #mainControl() {
    const p = this.#parts;
    if (!p.card) return null;
    if (!p.trouble.hidden) return p.signIn.hidden ? p.retry : p.signIn;
    if (!p.intro.hidden) return p.enter.own;
    if (!p.browse.hidden) return this.#list.box.hidden ? p.search : this.#list.box;
    return p.title;
  }

  /** No list, or an empty one: never the one in the place of the other. */
  #updateTrouble() {
    const { trouble, message, retry, signIn } = this.#parts;
    const isFailure = this.#phase === "failed";
    const address = isFailure ? this.#signInAddress : null;
    setAttribute(signIn, "href", address);
    signIn.hidden = !address;
    retry.hidden = Boolean(address);
    message.setAttribute("role", isFailure ? "alert" : "status");
    message.replaceChildren(...trouble.hidden ? [] : [element("h3", this.#say(isFailure ? "failure" : "empty")),
      element("p.quiet", isFailure ? this.#reason() : this.#say("empty_note"))]);
    if (isFailure && this.#problem.detail) message.append(element("p.said", isolated(this.#problem.detail)));
    retry.textContent = this.#say(isFailure ? "retry" : "refresh");
  }

  #updateIntro() {
    for (const tab of TABS) {
      const count = this.#say("files", this.#catalogue.tabs[tab].length);
      this.#parts.enter[tab].querySelector("small:last-child").textContent = count;
    }
  }

  #updateBrowse() {
    const p = this.#parts;
    const { tab: openTab, search, order } = this.#view;
    for (const tab of TABS) {
      const made = p.tabs[tab];
      const isOpen = tab === openTab;
      made.disabled = this.#catalogue.tabs[tab].length === 0;
      made.tabIndex = isOpen ? 0 : -1;
      made.setAttribute("aria-selected", String(isOpen));
      this.#labelCounted(made, made, this.#say(tab), this.#catalogue.matching(tab, search).length);
    }
    p.panel.setAttribute("aria-labelledby", openTab);
    p.about.hidden = openTab !== "sample";
    this.#updateSegments();
    if (p.search.value !== search) p.search.value = search;
    p.sort.value = order;
    if (this.#isListStale) this.#updateList();
    p.details.disabled = p.go.disabled = !this.#chosen;
    p.alarm.textContent = this.#asksForChoice ? this.#say("choice_required") : "";
    const label = element("span.quiet", this.#say(this.#chosen ? "selected" : "nothing_selected"));
    p.chosen.replaceChildren(label);
    if (this.#chosen) p.chosen.append(element("span.name", isolated(this.selectedName)));
  }

  /** "Uploaded 12", which a screen reader hears as "Uploaded, 12 files". */
  #labelCounted(control, label, text, count) {
    const number = element("span.number", { "aria-hidden": "true" }, this.#words.number.format(count));
    label.replaceChildren(text, number);
    control.setAttribute("aria-label", `${text}, ${this.#say("files", count)}`);
  }

  #updateSegments() {
    const { segments } = this.#parts;
    const { tab, segment, search } = this.#view;
    const open = this.#catalogue.segments(tab, search);
    const keys = `${tab} ${open.map(({ key }) => key)}`;
    if (segments.dataset.keys !== keys) {
      segments.dataset.keys = keys;
      segments.replaceChildren(...open.map(({ key }) =>
        element("label", element("input", { type: "radio", name: "segment", value: key }), element("span"))));
    }
    open.forEach(({ key, count }, index) => {
      const [input, label] = segments.children[index].children;
      input.checked = key === segment[tab];
      this.#labelCounted(input, label, this.#say(key), count);
    });
  }

  /** What is said above the list; above the first question and an empty list, only how old the list is (D20). */
  #updateNotices() {
    const { notices, browse } = this.#parts;
    const { own, sample } = this.#catalogue.tabs;
    const { skipped } = this.#catalogue;
    const last = this.#remembered;
    const made = [];
    const add = (...parts) => made.push(element("p", ...parts));
    const button = (key, click) => element("button.link", { type: "button", click }, this.#say(key));
    if (this.#problem && this.#phase === "ready") {
      const address = this.#signInAddress;
      made.push(element("p.stale", element("b", this.#say("stale", this.#words.ago(Date.now() - this.#loadedAt))), " ", this.#reason(), " ",
        address ? element("a", { href: address }, this.#say("sign_in")) : button("retry", () => this.refresh())));
    }
    if (!browse.hidden) {
      // By the list of now: a later refresh may bring a file back. The choice of last time is told by its name alone.
      const isGone = (id) => !this.#catalogue.find(id);
      if (this.#lost !== null && this.#lost !== last?.id && isGone(this.#lost)) add(this.#say("selection_gone"));
      if (last && isGone(last.id)) add(this.#say("remembered_gone", `\u2068${last.name}\u2069`));
      else if (last && last.id === this.selected) {
        add(this.#say("remembered", `\u2068${this.selectedName}\u2069`), " ", button("forget", () => this.forget()));
      }
      if (own.length === 0) {
        const href = safeAddress(this.getAttribute("upload-href") ?? UPLOAD);
        const upload = element(href ? "a" : "span", { href }, this.#say("no_own_upload"));
        add(element("b", this.#say("no_own")), " ", upload, ". ", this.#say("no_own_meanwhile"));
      }
      if (sample.length === 0) add(this.#say("no_samples"));
      if (skipped > 0) add(this.#say("skipped", skipped));
    }
    const text = made.map((notice) => notice.textContent).join(" ");
    notices.hidden = made.length === 0;
    // Unchanged notices stay: one may have the focus, and they have been read out.
    if (notices.dataset.text === text) return;
    const hadFocus = notices.contains(this.shadowRoot.activeElement);
    const isOnlyOlder = notices.dataset.kind === this.#problem?.reason && notices.childElementCount === made.length;
    notices.dataset.text = text;
    notices.dataset.kind = this.#problem?.reason ?? "";
    notices.replaceChildren(...made);
    if (text && !isOnlyOlder) this.#announce(text);
    if (hadFocus) (notices.querySelector("a, button") ?? this).focus();
  }

  /** Updates the shown age of a stale list every `AGE_PAUSE`. */
  #age() {
    clearInterval(this.#aging);
    if (this.#problem && this.#phase === "ready" && this.isConnected) {
      this.#aging = setInterval(() => this.#updateNotices(), AGE_PAUSE);
    }
  }

  #updateList() {
    const p = this.#parts;
    const { tab, segment, search, order } = this.#view;
    const { box } = this.#list;
    const files = this.#catalogue.list(tab, segment[tab], search, order);
    const { total } = this.#catalogue.segments(tab, "").find(({ key }) => key === segment[tab]);
    const count = files.length;
    const elsewhere = TABS.flatMap((key) => this.#catalogue.matching(key, search)).length;
    this.#isListStale = false;
    box.hidden = p.count.hidden = count === 0;
    p.nothing.hidden = count > 0;
    p.panel.className = tab;
    box.setAttribute("aria-label", `${this.#say(tab)}: ${this.#say(segment[tab])}`);
    p.count.textContent = search.trim() ? this.#say("matching", count, total) : this.#say("files", count);
    p.nothingText.textContent = this.#say("nothing_matches", search.trim())
      + (elsewhere > 0 ? ` ${this.#say("matches_elsewhere", elsewhere)}` : "");
    const index = this.#chosen ? files.findIndex((file) => file.id === this.selected) : -1;
    this.#list.show(files, index, this.#isFound && index >= 0);
    this.#isFound = false;
  }

  /** One row: a file's name, or a sample's picture, persona and description (D09), and its distinguishing facts. */
  #fill(row, file) {
    const line = (look, ...content) => element(`span.${look}`, ...content);
    const text = line("text", line("name", isolated(file.title)));
    if (file.isSample && file.description) text.append(line("note", isolated(file.description)));
    const facts = [
      file.repeats && this.#say("identifier", file.id), file.segment === "other" && file.category,
      [file.type, file.subtype].filter(Boolean).join(" "), file.population,
      Number.isNaN(file.added.time) ? file.added.text : this.#words.date.format(file.added.time),
    ].filter(Boolean);
    if (facts.length > 0) text.append(line("meta", element("span", ...facts.flatMap((fact) => [element("span.fact", isolated(fact)), " "]))));
    const hidden = { "aria-hidden": "true" };
    row.replaceChildren(element("span.mark", hidden), ...file.isSample ? [picture(file)] : [], text,
      element("span.more", hidden, icon("info")));
  }

  /** Announces a text; later texts replace earlier ones that were not read out yet. */
  #announce(text, pause = 50) {
    clearTimeout(this.#announcement);
    this.#announcement = setTimeout(() => { this.#parts.status.textContent = text; }, pause);
  }

  // MARK: Film

  get #isFilmOn() {
    return this.#isFilmWanted ?? !matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** The film plays only while the first screen is in sight, and motion is welcome or the person plays it (D06). */
  #updateFilm() {
    const { film, filmButton, intro } = this.#parts;
    const films = film.assignedElements();
    intro.classList.toggle("filmed", films.length > 0);
    filmButton.hidden = films.length === 0;
    filmButton.textContent = this.#say(this.#isFilmOn ? "pause_film" : "play_film");
    for (const video of films) {
      // A film that cannot play leaves a still or nothing.
      if (this.#isFilmOn && !intro.hidden && !document.hidden) video.play?.().catch(() => {});
      else video.pause?.();
    }
  }

  // MARK: Doing

  #show(change, pause) {
    const p = this.#parts;
    Object.assign(this.#view, change);
    this.#isListStale = true;
    this.#update();
    this.#announce(p.count.hidden ? p.nothingText.textContent : p.count.textContent, pause);
  }

  #open(tab) {
    const isFromIntro = this.#view.screen === "intro";
    this.#show({ screen: "browse", tab });
    this.#parts.body.scrollTop = 0;
    if (!isFromIntro) return;
    this.focus({ preventScroll: true });
    // The list may be longer than the first screen: its top is read first.
    this.#parts.bar.scrollIntoView({ block: "nearest" });
  }

  /** Back to the first question. The selection stays (D13). */
  #returnToIntro() {
    this.#view.screen = "intro";
    this.#update();
    this.#parts.body.scrollTop = 0;
    this.#parts.enter[this.#view.tab].focus();
  }

  #find(search) {
    this.#show({ search }, ANNOUNCE_PAUSE);
  }

  #onTabKey(event) {
    const other = TABS.find((tab) => tab !== this.#view.tab);
    const tab = { ArrowLeft: other, ArrowRight: other, Home: "own", End: "sample" }[event.key];
    if (!tab || this.#parts.tabs[tab].disabled) return;
    event.preventDefault();
    this.#open(tab);
    this.#parts.tabs[tab].focus();
  }

  #onSearchKey(event) {
    const { key } = event;
    if (key === "Escape" && this.#view.search !== "") this.#find("");
    else if (key === "ArrowDown" && !this.#list.box.hidden) this.#list.box.focus();
    // Within a form, Enter would send it.
    else if (key !== "Enter") return;
    event.preventDefault();
  }

  /** Escape closes the innermost thing that is open; the browser does so for the details. */
  #onEscape(event) {
    const { dialog, help, info, close } = this.#parts;
    if (event.key !== "Escape" || event.defaultPrevented || dialog.open) return;
    if (help.matches(":popover-open")) {
      help.hidePopover();
      info.focus();
    } else if (close.hidden) return;
    else this.#close();
    event.preventDefault();
  }

  /** Shows a file's members (D17): those with a label, then the others under the service's own names. */
  #openDetails(file) {
    const p = this.#parts;
    const { record } = file;
    const line = (name, value) => element("div", element("dt", isolated(name)),
      value === null ? element("dd.absent", this.#say("no_value")) : element("dd", isolated(value)));
    const values = { DateAdded: this.#moment(file.added), Id: file.id, FileCategory: this.#categoryOf(file), Sex: this.#sexOf(file) };
    const isOwn = (key) => !file.isSample && ["FriendlyDesc1", "FriendlyDesc2"].includes(key) && fieldText(record[key]) === null;
    const lines = Object.keys(FIELDS).filter((key) => !isOwn(key))
      .map((key) => line(this.#say(`field_${FIELDS[key]}`), key in values ? values[key] : fieldText(record[key])));
    const others = Object.keys(record).filter((key) => !Object.hasOwn(FIELDS, key)).sort(compareNames);
    p.detailsHead.replaceChildren(...file.isSample ? [picture(file)] : [], element("div",
      element("p.quiet", { id: "details-title" }, this.#say("details_title")),
      element("h3", { id: "details-name" }, isolated(displayName(file)))));
    p.fields.replaceChildren(element("dl", ...lines));
    if (others.length > 0) {
      p.fields.append(element("h4", this.#say("more")), element("dl", ...others.map((key) => line(key, fieldText(record[key])))));
    }
    p.dialog.showModal();
    p.fields.scrollTop = 0;
  }

  /** A file's category in words; null when there is none. */
  #categoryOf(file) {
    // The service's own word is no key of a text.
    return file.segment === "other" ? file.category || null : this.#say(file.isSample ? "category_sample" : file.segment);
  }

  #sexOf(file) {
    return file.sex === "unstated" ? file.sexWord : this.#say(file.sex === "men" ? "sex_male" : "sex_female");
  }

  /** A date, with the time if it has one. */
  #moment({ text, time }) {
    if (Number.isNaN(time)) return text;
    return this.#words[text.length === 10 ? "date" : "moment"].format(time);
  }
}

/** A field's value for people; null for none. */
function fieldText(value) {
  if (value === undefined || value === null || typeof value === "string" && isBlank(value)) return null;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

if (!customElements.get("file-selector")) customElements.define("file-selector", FileSelector);
