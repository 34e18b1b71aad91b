// What `<file-selector>` and `<registration-sheet>` have in common. It stands in each module after WORDS and LOOK and before the
// component's own code.

// MARK: - Words

/**
 * Everything a person reads, by language. A page may add one, `texts.he = { title: … }`; what it lacks stays English.
 * `%1$@` and the like are filled in; a text that counts has the plural forms of `Intl.PluralRules`.
 */
export const texts = WORDS;
const ENGLISH = "en-US";
const AMERICAN = ["US", "AS", "GU", "MH", "MP", "PH", "PR", "UM", "VI"];
const LATIN_AMERICAN = ["419", "AR", "BO", "BR", "BZ", "CL", "CO", "CR", "CU", "DO", "EC", "GT", "HN", "MX", "NI", "PA",
                        "PE", "PR", "PY", "SV", "US", "UY", "VE"];

/** The texts' language for a tag, or null. As `InterfaceLocale` in Swift. */
function match(tag) {
  let found;
  try {
    found = new Intl.Locale(tag.replaceAll("_", "-"));
  } catch {
    return null;
  }
  const { language, region, script } = found;
  switch (language) {
    case "en": return !region || AMERICAN.includes(region) ? ENGLISH : "en-GB";
    case "es": return LATIN_AMERICAN.includes(region) ? "es-419" : "es";
    case "fr": return region === "CA" ? "fr-CA" : "fr";
    case "pt": return region && region !== "BR" ? "pt-PT" : "pt-BR";
    case "no": case "nn": return "nb";
    case "yue": return script === "Hans" ? "zh-Hans" : "zh-Hant";
    case "zh": case "cmn":
      return script === "Hant" || script !== "Hans" && ["TW", "HK", "MO"].includes(region) ? "zh-Hant" : "zh-Hans";
    default: return Object.hasOwn(texts, language) ? language : null;
  }
}

const MOMENTS = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]];

/** The words of one language: `say("files", 3)`. */
class Words {
  constructor(tag) {
    const known = match(tag);
    /** English in the place of a language that has no texts: it has its own direction. */
    this.isFallback = known === null;
    this.language = known ?? ENGLISH;
    this.tables = [texts[this.language] ?? {}, texts[ENGLISH]];
    // Numbers and dates follow the page's region, and English where that stands in.
    const locale = this.isFallback ? ENGLISH : tag.replaceAll("_", "-");
    const { language, script } = new Intl.Locale(this.language);
    this.direction = ["ar", "he", "fa", "ur", "yi"].includes(language) || script === "Arab" ? "rtl" : "ltr";
    this.plural = new Intl.PluralRules(locale);
    this.number = new Intl.NumberFormat(locale);
    this.date = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
    this.moment = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "short" });
    this.past = new Intl.RelativeTimeFormat(locale, { numeric: "always" });
  }

  /** A text, filled in; the first number counts. */
  say(key, ...values) {
    let text = this.tables[0][key] ?? this.tables[1][key] ?? key;
    if (typeof text === "object") text = text[this.plural.select(values[0])] ?? text.other;
    return text.replace(/%(\d)\$@/g, (_, place) => {
      const value = values[place - 1] ?? "";
      return typeof value === "number" ? this.number.format(value) : String(value);
    });
  }

  /** How long ago something was: “5 minutes ago”. */
  ago(milliseconds) {
    const seconds = Math.max(1, Math.round(milliseconds / 1000));
    const [unit, size] = MOMENTS.find(([, size]) => seconds >= size);
    return this.past.format(-Math.floor(seconds / size), unit);
  }
}

// MARK: - Building blocks

/** Makes `tag.class`. Strings among the parts become text, so a file name with markup stays a file name (W32). */
function element(name, ...parts) {
  const [tag, ...looks] = name.split(".");
  const made = document.createElement(tag);
  made.className = looks.join(" ");
  for (const part of parts) {
    if (typeof part === "string" || part instanceof Node) made.append(part);
    else for (const [key, value] of Object.entries(part)) setAttribute(made, key, value);
  }
  return made;
}

/** A function is a listener, true an attribute without a value; null, undefined and false are none. */
function setAttribute(target, name, value) {
  if (typeof value === "function") target.addEventListener(name, value);
  else if (value === true) target.setAttribute(name, "");
  else if (value ?? false) target.setAttribute(name, value);
  else target.removeAttribute(name);
}

// MARK: - Colours

/** Declarations of the look's colours as custom properties. */
const COLORS = Object.entries(LOOK.colors).map(([name, [light, dark]]) => {
  const own = `light-dark(${light},${dark})`;
  return `--${name}:${name.startsWith("accent") ? `var(--file-selector-${name},${own})` : own}`;
}).join(";");

// MARK: - Reading

/** The text of an answer of at most so many bytes; a longer one is a `RangeError`, and the rest is not read. */
async function boundedText({ body }, limit) {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (let part; reader && !(part = await reader.read()).done;) {
    bytes += part.value.length;
    if (bytes > limit) {
      reader.cancel();
      throw new RangeError("the answer is too long");
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}
