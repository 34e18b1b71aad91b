// The page of Weather My Way. Everything is set as text, never as HTML.

const $ = (id) => document.getElementById(id);

function element(name, ...parts) {
  const [tag, ...looks] = name.split(".");
  const made = document.createElement(tag);
  if (looks.length) made.className = looks.join(" ");
  made.append(...parts);
  return made;
}

/** Asks the app's own server. `problem` says why there is no answer, `sign_in` where the user can sign in again. */
async function ask(path, content) {
  const response = await fetch(path, {
    method: content ? "POST" : "GET", cache: "no-store", headers: content ? { "Content-Type": "application/json" } : {},
    body: content && JSON.stringify(content),
  }).catch(() => null);
  if (!response) return { problem: "The app cannot be reached. Check your connection and try again." };
  const body = await response.json().catch(() => null);
  if (response.ok && body) return body;
  return { problem: body?.problem ?? "Something went wrong. Try again.", sign_in: body?.sign_in };
}

/** Shows why there is no answer, with a link where the user has to sign in again. */
function tell(place, { problem, sign_in: address }) {
  place.textContent = problem;
  if (!address) return;
  const link = element("a", WORDS.signInAgain);
  link.href = address;
  place.append(" ", link);
}

/** The page's buttons are disabled until their script is there, so that no press is lost. */
function onPress(id, act) {
  const button = $(id);
  if (!button) return;
  button.addEventListener("click", act);
  button.disabled = false;
}

// MARK: - Signing in

onPress("register", () => document.querySelector("registration-sheet").show());

// MARK: - The file and the forecast

const SIGNS = {
  sun: "M12 7.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4",
  some: "M8.5 4v1.3M3.8 6l.9.9M2.5 10.6h1.3M13.2 6l-.9.9M5.6 12.3a3.4 3.4 0 1 1 6-2.6M8 20h8.5a3.8 3.8 0 0 0 .5-7.6a5.2 5.2 0 0 0-10 .9A3.4 3.4 0 0 0 8 20",
  cloud: "M7 19h10a4.3 4.3 0 0 0 .6-8.6A6 6 0 0 0 6 11.3A3.9 3.9 0 0 0 7 19",
  rain: "M7 15h10a4 4 0 0 0 .5-8A5.7 5.7 0 0 0 6.4 8A3.6 3.6 0 0 0 7 15M8.5 18l-.8 2.5M12.5 18l-.8 2.5M16.5 18l-.8 2.5",
  snow: "M7 15h10a4 4 0 0 0 .5-8A5.7 5.7 0 0 0 6.4 8A3.6 3.6 0 0 0 7 15M8 18.5v.1M12 20v.1M16 18.5v.1M10 21.5v.1M14 21.5v.1",
  storm: "M7 14h10a4 4 0 0 0 .5-8A5.7 5.7 0 0 0 6.4 7A3.6 3.6 0 0 0 7 14M12.5 14l-2.2 3.6h3.2L11.4 21.5",
  fog: "M4 9h13M7 13h13M4 17h10M16 17h4",
  wind: "M3 9h11a2.5 2.5 0 1 0-2.5-2.5M3 13h15a2.5 2.5 0 1 1-2.5 2.5M3 17h7",
};

function sign(condition) {
  const word = condition.toLowerCase();
  const has = (...parts) => parts.some((part) => word.includes(part));
  const name = has("thunder", "funnel") ? "storm" : has("snow", "flurries", "blizzard", "ice", "sleet", "freezing") ? "snow"
    : has("rain", "drizzle", "showers", "hail", "spray", "precipitation") ? "rain" : has("fog", "mist", "haz", "smoke", "ash") ? "fog"
    : has("sand", "dust", "squall", "wind") ? "wind" : has("partly", "scattered") ? "some" : has("cloud", "overcast") ? "cloud" : "sun";
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SIGNS[name]);
  drawing.append(path);
  return drawing;
}

const weekday = new Intl.DateTimeFormat("en", { weekday: "long" });
const date = new Intl.DateTimeFormat("en", { month: "long", day: "numeric" });
/** With a minus sign in place of the keyboard's hyphen. */
const degrees = (value) => `${String(value).replace("-", "\u2212")}\u00a0°C`;

function day(entry) {
  const moment = new Date();
  moment.setDate(moment.getDate() + entry.offset);
  const name = entry.offset === 0 ? "Today" : weekday.format(moment);
  return element("li.day", sign(entry.condition),
    element("div", element("h3", element("span", `${name}, `), element("span", date.format(moment))), element("small", entry.condition),
      element("small.degrees", `${degrees(entry.high)}, at night ${degrees(entry.low)}`)),
    ...(entry.advice ? [element("p", entry.advice)] : []));
}

/** Shows the alert in force. It stands above everything else, and waits for nothing. */
function warn(text) {
  const warning = $("warning");
  warning.hidden = !text;
  // What stands there already is not read out again.
  if (warning.textContent !== text) warning.textContent = text;
}

const warnOfPlace = () => warn($("place").selectedOptions[0].dataset.warning);

function nameFile(name) {
  $("chosen").textContent = $("choice").dataset.file = name;
}

let asked = 0;

async function report() {
  const number = asked += 1;
  $("status").textContent = WORDS.asking;
  $("report").setAttribute("aria-busy", "true");
  const found = await ask(`/report?place=${encodeURIComponent($("place").value)}`);
  // A later choice has been made meanwhile.
  if (number !== asked) return;
  $("report").removeAttribute("aria-busy");
  $("status").textContent = found.failure ?? "";
  $("report").hidden = Boolean(found.problem);
  if (found.problem) {
    // The page began with that notice.
    if (found.sign_in && number === 1 && $("expired")) return;
    tell($("status"), found);
    if (!found.sign_in) retry();
    return;
  }
  if (found.failure) retry();
  // Another tab may have chosen another file: name and advice come together.
  nameFile(found.file);
  warn(found.warning);
  const answers = element("dl.answers", ...found.answers.map(({ title, answer }) => element("div", element("dt", title), element("dd", answer))));
  const parts = [answers];
  if (found.lacks_data) parts.push(element("p.notice", WORDS.lacksData));
  parts.push(element("h2", `${found.place}, ${found.country}`), element("ol.days", ...found.days.map(day)));
  $("report").replaceChildren(...parts);
}

function retry() {
  const again = element("button", "Try again");
  again.type = "button";
  again.addEventListener("click", async () => {
    await report();
    // The button that had the focus is gone. A user who has gone on meanwhile stays there.
    if (document.activeElement === document.body) ($("status").querySelector("button, a") ?? $("heading")).focus();
  });
  $("status").append(" ", again);
}

const selector = document.querySelector("file-selector");
if (selector) {
  warnOfPlace();
  // Files come meanwhile: each opening asks for the list again, with the last one in view.
  onPress("choose", () => {
    selector.show();
    selector.refresh();
  });
  selector.addEventListener("continue", async ({ detail }) => {
    const chosen = await ask("/file", { id: detail.id });
    if (chosen.problem) return tell($("status"), chosen);
    nameFile(chosen.name);
    // Advice for another file's genes must not stand under this one's name, whatever follows.
    $("report").hidden = true;
    $("report").replaceChildren();
    warnOfPlace();
    $("heading").textContent = "Your forecast";
    $("choose").textContent = WORDS.changeFile;
    // Now: when the report comes, the user may have gone on.
    $("heading").focus();
    await report();
  });
  $("place").addEventListener("change", () => {
    warnOfPlace();
    if ($("choice").dataset.file) report();
  });
  if ($("choice").dataset.file) {
    $("choose").textContent = WORDS.changeFile;
    report();
  }
}

// MARK: - Import

const STEPS = ["Sign in there", "Sequencing.com fetches your data", "The file is in your list"];

/** Where the import stands, as the server has told last. */
let imported = { state: "none" };
let look = 0;

/** Shows where an import stands, and looks again while it runs. */
function follow(told) {
  const number = look += 1;
  // A look that failed says nothing of the import, and what has not changed is not read out again.
  if (!told.problem && JSON.stringify(told) !== JSON.stringify(imported)) show(told);
  // An import that another one has taken the place of still ends.
  if (imported.state !== "running" && imported.state !== "answering" && !(imported.followed > 0)) return;
  setTimeout(async () => {
    if (number !== look) return;
    const next = await ask("/import");
    if (number !== look) return;
    if (next.sign_in) return tell($("status"), next);
    follow(next);
  }, 1000);
}

function show(told) {
  imported = told;
  const progress = $("progress");
  const { state } = told;
  progress.hidden = state === "none";
  const at = { question: 0, link: 0, answering: 0, failed: 0, running: 1, late: 1, done: 3, "one-of": 3 }[state] ?? 0;
  const list = element("ol", ...STEPS.map((step, index) => {
    const line = element(index < at ? "li.done" : index === at ? "li.now" : "li", step);
    if (index === at) line.setAttribute("aria-current", "step");
    return line;
  }));
  const files = (told.files ?? []).join(", ");
  const said = element("p", {
    running: `Sequencing.com fetches your data from ${told.source}. You may close this page; the file will be in your list.`,
    late: [told.text, WORDS.importLate].filter(Boolean).join(" "), failed: told.text ?? "", done: `${WORDS.newFile} ${files}`,
    "one-of": `${WORDS.oneOfFiles} ${files}`,
    answering: "Sequencing.com is checking your answer.", question: "23andMe asks you a question.", link: "Ancestry has sent you an email with a link.",
  }[state] ?? "");
  said.setAttribute("role", "status");
  const parts = [list, said];
  const others = [...(told.also ? [`${WORDS.newFile} ${told.also.join(", ")}`] : []),
    ...(told.also_one_of ?? []).map((files) => `${WORDS.oneOfFiles} ${files.join(", ")}`)];
  for (const text of others) {
    const other = element("p", text);
    other.setAttribute("role", "status");
    parts.push(other);
  }
  if (state === "running") {
    const bar = element("progress");
    bar.setAttribute("aria-label", "Import");
    parts.splice(1, 0, bar);
  }
  progress.replaceChildren(...parts);
  showUnfinished(told.unfinished ?? []);
}

const moment = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" });
let listed = "[]";

/** Lists the imports whose files have not come, each with a button that gives it up. */
function showUnfinished(unfinished) {
  // A list that has not changed keeps its buttons, and the focus.
  if (JSON.stringify(unfinished) === listed) return;
  listed = JSON.stringify(unfinished);
  $("unfinished").hidden = unfinished.length === 0;
  $("unfinished").querySelector("ul").replaceChildren(...unfinished.map((one) => {
    const name = element("span", `${one.source}, started ${moment.format(new Date(one.started * 1000))}`);
    name.id = `unfinished ${one.key}`.replaceAll(" ", "-");
    const button = element("button", WORDS.giveUp);
    button.type = "button";
    button.setAttribute("aria-describedby", name.id);
    button.addEventListener("click", () => giveUp(one, button));
    return element("li", name, button);
  }));
}

async function giveUp(one, button) {
  button.disabled = true;
  $("import-problem").textContent = $("given-up").textContent = "";
  const told = await ask("/import/give-up", { key: one.key });
  button.disabled = false;
  if (told.problem) {
    tell($("import-problem"), told);
    button.focus();
    return;
  }
  follow(told);
  const isLeft = told.unfinished?.some(({ key }) => key === one.key);
  $("given-up").textContent = isLeft ? "" : `No longer waiting for the import from ${one.source}.`;
  // The button that had the focus is gone.
  $("import-title").focus();
}

const importSheet = $("import-sheet");
if (importSheet) {
  const form = importSheet.querySelector("form");
  const [credentials, question] = [$("credentials"), $("question")];

  const expect = (told) => {
    const isAsking = told.state === "question" || told.state === "link";
    credentials.hidden = credentials.disabled = isAsking;
    question.hidden = question.disabled = !isAsking;
    $("asked").textContent = told.state === "question" ? `${WORDS.question} ${told.text}` : WORDS.pasteLink;
    $("import-go").textContent = isAsking ? "Send" : "Import";
    $("import-go").disabled = false;
    $("answer").value = "";
    if (isAsking) $("answer").focus();
  };

  // Counts what the user began in the sheet.
  let sheet = 0;
  onPress("import", () => {
    sheet += 1;
    // A question or a link that is waited for outlasts the page.
    expect(imported);
    $("import-problem").textContent = $("given-up").textContent = "";
    importSheet.showModal();
  });
  $("restart").addEventListener("click", () => {
    sheet += 1;
    expect({ state: "none" });
    $("login").focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const number = sheet;
    const isAnswer = !question.hidden;
    $("import-problem").textContent = $("given-up").textContent = "";
    $("import-go").disabled = true;
    const content = isAnswer ? { answer: $("answer").value.trim() }
      : { source: form.source.value, login: $("login").value.trim(), password: $("password").value };
    $("password").value = "";
    const told = await ask(isAnswer ? "/import/answer" : "/import", content);
    if (number === sheet) $("import-go").disabled = false;
    if (!told.problem) follow(told);
    // An import whose answer was lost may run.
    else ask("/import").then(follow);
    // The user has begun something else in the sheet meanwhile.
    if (number !== sheet) return;
    if (told.problem) return tell($("import-problem"), told);
    if (told.state === "question" || told.state === "link") return expect(told);
    if (told.state === "failed" || told.state === "none") {
      expect({ state: "none" });
      $("import-problem").textContent = told.text ?? "The import has ended. Start it again.";
      return;
    }
    importSheet.close();
  });
  ask("/import/look", {}).then(follow);
}

// MARK: - Copying a file from the web

const copySheet = $("copy-sheet");
if (copySheet) {
  onPress("copy", () => {
    $("copy-problem").textContent = "";
    copySheet.showModal();
  });
  copySheet.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    // A second request would copy the file twice.
    $("copy-go").disabled = true;
    const told = await ask("/copy", { email: $("copy-email").value.trim(), name: $("copy-name").value.trim(), url: $("copy-url").value.trim() });
    $("copy-go").disabled = false;
    if (told.outcome === "accepted") {
      copySheet.close();
      $("status").textContent = "Sequencing.com is copying the file into the account.";
    } else {
      tell($("copy-problem"), { problem: `Sequencing.com refuses to copy the file (status ${told.status}).`, ...told });
    }
  });
}

for (const leave of document.querySelectorAll("dialog .leave")) leave.addEventListener("click", () => leave.closest("dialog").close());
