/**
 * `<connect-button>`: lets a user connect an app with a service through IFTTT, and disconnect it.
 *
 *     <script type="module" src="/connect/connect-button.js"></script>
 *     <connect-button connection="aB3dE5fG" base="/connect"></connect-button>
 *
 * It draws the server's state and reports the user's actions; it has no logic of its own, identifies no user, and stores
 * only the connection's id, in the tab's session storage while the user is at the service. It has no dependencies, creates no HTML from text and runs under `default-src 'none'; script-src 'self';
 * connect-src 'self'; img-src` of the icons. It follows the surrounding `color-scheme`; all lengths follow the text size.
 *
 * To keep the page from moving while the module loads, add this to its style sheet (`ConnectButtonScript.reservation`):
 *
 *     connect-button:not(:defined) {
 *       display: block; inline-size: 100%; margin-inline: auto; max-inline-size: calc(329 * max(1px, .0625rem));
 *       block-size: calc(143.8 * max(1px, .0625rem)) }
 *
 * Server
 *   GET  {base}/{connection}            an answer. Changes nothing. All requests get `?page=`, a random text that lives as long as the
 *                                       page, and `locale=` when the button has its own locale.
 *   POST {base}/{connection}/events     `{ event, email?, revision, token, page }`; the new state. Later changes arrive through the
 *                                       stream. A message about an older revision changes nothing, unless it cancels.
 *                                       An answer with `canOpen` is answered with `proceed`, whose answer has `open`.
 *   POST {base}/{connection}/counts     `{ event, item?, revision, token }`, and only while `isCounted`: an analytics event, with the user's consent.
 *                                       202 when it was counted; after any other status the button stops reporting.
 *   GET  {base}/{connection}/changes    answers as server-sent events; without it the button polls
 *   An answer: `{ revision, token, locale, state, face, canOpen?, open?, isCounted? }`, as `ConnectButtonAnswer` in Swift. Statuses: 401 and 403 (a token
 *   that has expired is fetched again once), 404, 429 (too many requests), anything else.
 *
 * Attributes
 *   connection      the connection's id
 *   base            the path of the server's routes (/connect), of this page's origin, because it receives the address and the token
 *   locale          the button's own locale, also for IFTTT's pages; otherwise the server negotiates it
 *   email           a suggested address; it is sent only after the user confirms it
 *   theme           light, dark or auto; by default the surrounding `color-scheme`
 *   footer          none: hides the footer; errors are still shown there
 *   target          _blank: opens IFTTT in a new tab, or in this one where the browser blocks it
 *
 * Properties: `answer`, an answer to draw immediately; a `<script type="application/json">` inside the element does the same. With a
 * `connection` it is drawn without a request, and followed like any other answer. Without one the button is a
 * preview, which has no server. `refresh()` fetches the state.
 *
 * Events; all but `change` bubble
 *   `connected` (`detail` is `{ connection, isPending }`): the connection was turned on
 *   `disconnected` (`{ connection }`): it was turned off, here or elsewhere
 *   `failed` (`{ connection, kind, detail, during }`): `during` is loading, activation or deactivation; `kind` is `cancelled` when the user cancelled;
 *     `detail` is for developers
 *   `setup`: the user wants to configure a pending connection; unless the default is prevented, `state.setUpURL` is opened, or `state.manageURL` without one
 *   `change` (`{ step, isOn }`): the step changed, or a failure was cleared. It does not bubble, because form controls have an event of this name.
 *
 * Custom properties: --connect-button-pill, -ink, -progress, -footer, -error, -focus, -font. Parts: pill, knob, footer, about.
 * Sections (4.5), rows (F010) and weaknesses (W1) in comments are the IFTTT dossier's.
 */

// Written by `HANDSHAKE_WRITE_EMBEDDED=1 swift test --filter EmbeddedCopyTests`; that test compares them, too.
// >>> embedded
const TOKENS = {"colors":{"about":{"dark":"#000000","light":"#000000"},"aboutInk":{"dark":"#FFFFFF","light":"#FFFFFF"},"aboutManage":{"dark":"#242424","light":"#242424"},"aboutSecondary":{"dark":"#A6A6A6","light":"#A6A6A6"},"emailInk":{"dark":"#333333","light":"#333333"},"emailPlaceholder":{"dark":"#4D4D4D","light":"#4D4D4D"},"emailTrack":{"dark":"#CCCCCC","light":"#CCCCCC"},"error":{"dark":"#FF9A94","light":"#B3001B"},"focus":{"dark":"#1A73E8","light":"#1A73E8"},"footer":{"dark":"#A6A6A6","light":"#666666"},"pill":{"dark":"#FFFFFF","light":"#222222"},"pillInk":{"dark":"#000000","light":"#FFFFFF"},"progress":{"dark":"#CCCCCC","light":"#414141"}},"geometry":{"checkMark":42,"checkMarkArm":14,"checkMarkLine":3,"confirm":70,"confirmGlyphHeight":16,"confirmGlyphWidth":9,"cornerRadius":35,"emailInset":35,"emailInsetAtConfirm":70,"emailInsetTop":4,"footerGap":15,"footerLines":3,"height":70,"icon":32,"knobDiameter":62,"knobInset":4,"knobShadowOffset":3,"knobShadowOpacity":0.25,"knobShadowRadius":6,"labelInset":35,"labelInsetAtKnob":80,"maximumWidth":329},"looks":{"confirm_disconnect":{"ground":"pill","input":"choice","isOn":true,"knob":"hidden","pulses":false},"connect":{"ground":"pill","input":"turn_on","isOn":false,"knob":"start","pulses":false},"connected":{"ground":"pill","input":"turn_off","isOn":true,"knob":"end","pulses":false},"connecting":{"fill":0.75,"ground":"brand","input":"none","isOn":false,"knob":"hidden","pulses":false},"creating_account":{"fill":0.75,"ground":"pill","input":"none","isOn":false,"knob":"hidden","pulses":false},"disconnected":{"ground":"pill","input":"turn_on","isOn":false,"knob":"hidden","pulses":false},"disconnecting":{"fill":0.75,"ground":"pill","input":"none","isOn":false,"knob":"hidden","pulses":false},"email":{"ground":"email","input":"email","isOn":false,"knob":"hidden","pulses":false},"going_to_service":{"fill":0.9,"ground":"brand","input":"proceed","isOn":false,"knob":"hidden","pulses":false},"hidden":{"ground":"pill","input":"none","isOn":false,"knob":"hidden","pulses":false},"loading":{"ground":"pill","input":"none","isOn":false,"knob":"hidden","pulses":true},"loading_failed":{"ground":"pill","input":"none","isOn":false,"knob":"hidden","pulses":false},"pending":{"ground":"pill","input":"set_up","isOn":true,"knob":"end","pulses":false},"verifying":{"fill":0.5,"ground":"pill","input":"none","isOn":false,"knob":"hidden","pulses":false}},"motion":{"change":0.4,"checkHold":0.45,"dot":0.75,"easeIn":[0.42,0,1,1],"easeInOut":[0.42,0,0.58,1],"easeOut":[0,0,0.58,1],"emailMorph":0.5,"heavyPart":0.5,"highlight":0.1,"lightBackVelocity":0.1,"lightPart":0.4,"lightStillVelocity":0.05,"press":0.15,"pressDelay":0.1,"pressOpacity":0.8,"progress":1.5,"pulse":1.2,"pulseOpacity":0.4,"readable":1,"releaseSpring":9.2,"ring":0.4,"shakeDamping":7,"shakeDistance":10,"shakeEnd":1.7,"shakeMass":1,"shakeOut":0.1,"shakeStiffness":1000,"slop":10,"tick":0.3},"timelines":{"arriving":{"duration":1.9,"tracks":[["bar",1,0,0,0.4,"easeInOut"],["ring",0,1,0,0.4,"easeInOut"],["dot",0,1,0,0.75,"easeIn"],["tick",0,1,0.75,1.05,"easeOut"],["leavingLabel",1,0,0,0.4,"easeInOut"],["label",0,1,1.7,1.9,"easeInOut"],["brandGround",1,1,0,0.4,"easeInOut"],["brandGround",1,0,1.5,1.9,"easeInOut"],["knobPlace",0.5,1,1.5,1.9,"easeInOut"],["knob",0,1,1.5,1.9,"easeInOut"],["mark",1,0,1.5,1.9,"easeInOut"],["markPlace",0,0.5,1.5,1.9,"easeInOut"]]},"asking":{"duration":0.4,"tracks":[["knobPlace",1,0,0,0.4,"easeInOut"]]},"disconnecting":{"duration":0.4,"tracks":[["knobPlace",1,0,0,0.4,"easeInOut"],["disc",1,0,0,0.4,"easeInOut"],["icon",1,0,0,0.4,"easeInOut"],["shadow",1,0,0,0.4,"easeInOut"],["knob",1,0,0.32000000000000006,0.4,"easeInOut"]]},"email":{"duration":0.5,"tracks":[["emailGround",0,1,0,0.5,"easeInOut"],["knobPlace",0,1,0,0.5,"easeInOut"],["shadow",1,0,0,0.5,"easeInOut"],["confirmPlace",0,1,0,0.5,"easeInOut"],["confirmScale",0.8857142857142857,1,0,0.5,"easeInOut"],["confirmRound",1,0,0,0.5,"easeInOut"],["discRound",1,0,0.125,0.5,"easeInOut"],["icon",1,0,0.125,0.5,"easeInOut"],["discScale",1,1.1290322580645162,0.125,0.5,"easeInOut"],["confirm",0,1,0.35,0.5,"easeInOut"],["field",0,1,0.35,0.5,"easeInOut"],["knob",1,1,0,0.5,"easeInOut"],["knob",1,0,0.5,0.75,"easeOut"]]},"leaving":{"duration":0.4,"tracks":[["knobPlace",0,1,0,0.4,"easeInOut"],["disc",1,0,0,0.4,"easeInOut"],["icon",1,0,0,0.4,"easeInOut"],["shadow",1,0,0,0.4,"easeInOut"],["knob",1,1,0,0.4,"easeInOut"]]},"returning":{"duration":0.4,"tracks":[["knob",0,1,0,0.4,"easeInOut"],["icon",0,1,0,0.4,"easeInOut"],["shadow",0,1,0,0.4,"easeInOut"]]}},"type":{"aboutManage":20,"aboutRow":16,"aboutTitle":28,"bold":700,"demiBold":600,"email":18,"family":"\"Avenir Next\", Avenir, \"Nunito Sans\", Montserrat, system-ui, \"Noto Sans\", sans-serif","footer":14,"footerLineHeight":1.4,"heavy":800,"label":22,"labelMinimum":15}}
const WORD_NAMES = ["loading","works_with","try_again","offline","unavailable","too_many","unknown_connection","not_allowed","connect_any","cancel","unreachable"]
const WORDS = {"cs":["Načítání…","Funguje s IFTTT","Zkusit znovu","Jste offline. Zkontrolujte připojení k internetu.","IFTTT právě neodpovídá.","Příliš mnoho pokusů. Chvíli počkejte a zkuste to znovu.","Toto propojení není dostupné.","Váš účet nemůže toto propojení používat.","Připojit","Zrušit","Tato stránka se nemůže spojit se svým serverem."],"da":["Indlæser …","Fungerer med IFTTT","Prøv igen","Du er offline. Tjek din internetforbindelse.","IFTTT svarer ikke lige nu.","For mange forsøg. Vent lidt, og prøv igen.","Denne forbindelse er ikke tilgængelig.","Din konto kan ikke bruge denne forbindelse.","Forbind","Annuller","Denne side kan ikke nå sin server."],"de":["Wird geladen …","Funktioniert mit IFTTT","Erneut versuchen","Du bist offline. Prüfe deine Internetverbindung.","IFTTT antwortet gerade nicht.","Zu viele Versuche. Warte kurz und versuche es erneut.","Diese Verbindung ist nicht verfügbar.","Dein Konto kann diese Verbindung nicht nutzen.","Verbinden","Abbrechen","Diese Seite kann ihren Server nicht erreichen."],"en-GB":["Loading…","Works with IFTTT","Try again","You’re offline. Check your internet connection.","IFTTT isn’t responding at the moment.","Too many attempts. Wait a moment and try again.","This connection isn’t available.","Your account can’t use this connection.","Connect","Cancel","This page can’t reach its server."],"en-US":["Loading…","Works with IFTTT","Try again","You’re offline. Check your internet connection.","IFTTT isn’t answering right now.","Too many attempts. Wait a moment and try again.","This connection isn’t available.","Your account can’t use this connection.","Connect","Cancel","This page can’t reach its server."],"es":["Cargando…","Funciona con IFTTT","Reintentar","Estás sin conexión. Comprueba tu acceso a internet.","IFTTT no responde en este momento.","Demasiados intentos. Espera un momento y vuelve a intentarlo.","Esta conexión no está disponible.","Tu cuenta no puede usar esta conexión.","Conectar","Cancelar","Esta página no puede conectar con su servidor."],"es-419":["Cargando…","Funciona con IFTTT","Reintentar","No tienes conexión. Revisa tu acceso a internet.","IFTTT no responde en este momento.","Demasiados intentos. Espera un momento y vuelve a intentarlo.","Esta conexión no está disponible.","Tu cuenta no puede usar esta conexión.","Conectar","Cancelar","Esta página no puede conectarse con su servidor."],"fi":["Ladataan…","Toimii IFTTT:n kanssa","Yritä uudelleen","Ei verkkoyhteyttä. Tarkista internetyhteytesi.","IFTTT ei vastaa juuri nyt.","Liian monta yritystä. Odota hetki ja yritä uudelleen.","Tämä yhteys ei ole käytettävissä.","Tilisi ei voi käyttää tätä yhteyttä.","Yhdistä","Peruuta","Tämä sivu ei saa yhteyttä palvelimeensa."],"fr":["Chargement…","Fonctionne avec IFTTT","Réessayer","Vous êtes hors ligne. Vérifiez votre connexion Internet.","IFTTT ne répond pas pour le moment.","Trop de tentatives. Patientez un instant, puis réessayez.","Cette connexion n’est pas disponible.","Votre compte ne peut pas utiliser cette connexion.","Connecter","Annuler","Cette page n’arrive pas à joindre son serveur."],"fr-CA":["Chargement…","Fonctionne avec IFTTT","Réessayer","Vous êtes hors ligne. Vérifiez votre connexion à Internet.","IFTTT ne répond pas pour le moment.","Trop de tentatives. Attendez un instant, puis réessayez.","Cette connexion n’est pas disponible.","Votre compte ne peut pas utiliser cette connexion.","Connecter","Annuler","Cette page n’arrive pas à joindre son serveur."],"it":["Caricamento…","Funziona con IFTTT","Riprova","Sei offline. Controlla la connessione a internet.","IFTTT non risponde in questo momento.","Troppi tentativi. Attendi un momento e riprova.","Questo collegamento non è disponibile.","Il tuo account non può usare questo collegamento.","Collega","Annulla","Questa pagina non riesce a raggiungere il suo server."],"ja":["読み込み中…","IFTTTと連携","もう一度試す","オフラインです。インターネット接続を確認してください。","IFTTTが応答していません。","試行回数が多すぎます。しばらく待ってからもう一度お試しください。","この接続は利用できません。","お使いのアカウントではこの接続を利用できません。","接続","キャンセル","このページはサーバーに接続できません。"],"ko":["불러오는 중…","IFTTT와 연동","다시 시도","오프라인입니다. 인터넷 연결을 확인하세요.","지금 IFTTT가 응답하지 않습니다.","시도 횟수가 너무 많습니다. 잠시 후 다시 시도하세요.","이 연결을 사용할 수 없습니다.","사용 중인 계정으로는 이 연결을 쓸 수 없습니다.","연결","취소","이 페이지가 서버에 연결할 수 없습니다."],"nb":["Laster inn …","Fungerer med IFTTT","Prøv igjen","Du er frakoblet. Sjekk internettforbindelsen.","IFTTT svarer ikke akkurat nå.","For mange forsøk. Vent litt, og prøv igjen.","Denne tilkoblingen er ikke tilgjengelig.","Kontoen din kan ikke bruke denne tilkoblingen.","Koble til","Avbryt","Denne siden får ikke kontakt med serveren."],"nl":["Laden…","Werkt met IFTTT","Opnieuw proberen","Je bent offline. Controleer je internetverbinding.","IFTTT reageert nu niet.","Te veel pogingen. Wacht even en probeer het opnieuw.","Deze verbinding is niet beschikbaar.","Je account kan deze verbinding niet gebruiken.","Verbinden","Annuleren","Deze pagina kan de server niet bereiken."],"pl":["Wczytywanie…","Działa z IFTTT","Spróbuj ponownie","Jesteś offline. Sprawdź połączenie z internetem.","IFTTT teraz nie odpowiada.","Zbyt wiele prób. Odczekaj chwilę i spróbuj ponownie.","To połączenie jest niedostępne.","Twoje konto nie może używać tego połączenia.","Połącz","Anuluj","Ta strona nie może połączyć się ze swoim serwerem."],"pt-BR":["Carregando…","Funciona com IFTTT","Tentar de novo","Você está off-line. Verifique sua conexão com a internet.","A IFTTT não está respondendo agora.","Muitas tentativas. Aguarde um momento e tente de novo.","Esta conexão não está disponível.","Sua conta não pode usar esta conexão.","Conectar","Cancelar","Esta página não consegue acessar o servidor."],"pt-PT":["A carregar…","Funciona com IFTTT","Tentar novamente","Está offline. Verifique a sua ligação à internet.","A IFTTT não está a responder.","Demasiadas tentativas. Aguarde um momento e tente novamente.","Esta ligação não está disponível.","A sua conta não pode usar esta ligação.","Ligar","Cancelar","Esta página não consegue contactar o servidor."],"ru":["Загрузка…","Работает с IFTTT","Повторить","Нет сети. Проверьте подключение к интернету.","IFTTT сейчас не отвечает.","Слишком много попыток. Подождите немного и повторите.","Это подключение недоступно.","Ваш аккаунт не может использовать это подключение.","Подключить","Отмена","Страница не может связаться со своим сервером."],"sv":["Laddar …","Fungerar med IFTTT","Försök igen","Du är offline. Kontrollera internetanslutningen.","IFTTT svarar inte just nu.","För många försök. Vänta en stund och försök igen.","Den här anslutningen är inte tillgänglig.","Ditt konto kan inte använda den här anslutningen.","Anslut","Avbryt","Sidan kan inte nå sin server."],"zh-Hans":["正在加载…","与 IFTTT 搭配使用","重试","您已离线。请检查互联网连接。","IFTTT 暂时没有响应。","尝试次数过多。请稍候再试。","此连接不可用。","您的账户无法使用此连接。","连接","取消","此页面无法连接到其服务器。"],"zh-Hant":["正在載入…","與 IFTTT 搭配使用","再試一次","您目前離線。請檢查網際網路連線。","IFTTT 目前沒有回應。","嘗試次數過多。請稍候再試。","此連結無法使用。","您的帳號無法使用此連結。","連結","取消","此頁面無法連線至其伺服器。"]}
// <<< embedded

// MARK: - Colour (4.3)

/** `#rrggbb` as three components from 0 to 1; anything else is black (1.2). */
export function color(text) {
  const digits = /^[\s#]*([0-9a-f]{6})[\s#]*$/i.exec(typeof text === "string" ? text.slice(0, 64) : "")?.[1] ?? "000000"
  return [0, 2, 4].map(at => parseInt(digits.slice(at, at + 2), 16) / 255)
}

export const hexadecimal = parts =>
  "#" + parts.map(part => Math.round(part * 255).toString(16).padStart(2, "0")).join("").toUpperCase()

const brightness = parts => Math.max(...parts)

function withBrightness(parts, wanted) {
  const clamped = Math.min(Math.max(wanted, 0), 1)
  return brightness(parts) > 0 ? parts.map(part => part * clamped / brightness(parts)) : parts.map(() => clamped)
}

/** Darker, or lighter when nearly black. */
export const contrasting = (parts, up = 0.08, down = 0.15) =>
  withBrightness(parts, brightness(parts) < 0.25 ? brightness(parts) + up : brightness(parts) - down)

/** The knob by the dossier's arithmetic alone. A difference of exactly 0.2 is too close. */
export const knobColor = (brand, track) =>
  Math.abs(brightness(brand) - brightness(track)) < 0.2 + 1e-9 ? contrasting(brand, 0.25, 0.15) : brand

export function luminance(parts) {
  const [red, green, blue] = parts.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

export function contrast(one, two) {
  const [dark, light] = [luminance(one), luminance(two)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const WHITE = [1, 1, 1]
const BLACK = [0, 0, 0]

/** Black or white, whichever has more contrast. */
const inkOn = ground => (contrast(ground, WHITE) >= contrast(ground, BLACK) ? WHITE : BLACK)

const mixed = (from, to, share) => from.map((part, at) => part + (to[at] - part) * share)

/** A knob with a contrast of 3 : 1: the first of twenty mixtures that has it. */
function visible(knob, track) {
  const end = luminance(track) < 0.18 ? WHITE : BLACK
  for (let step = 0; step < 20; step += 1) {
    const parts = mixed(knob, end, step / 20)
    if (contrast(parts, track) >= 3) return parts
  }
  return end
}

/** The dossier's progress bar; where text on it is unreadable, one with a quarter of the opposite colour. */
function progressOn(ground, ink) {
  const parts = contrasting(ground)
  return contrast(parts, ink) >= 4.5 ? parts : mixed(ground, ink === WHITE ? BLACK : WHITE, 0.25)
}

/** A brand's colours: the dossier's, corrected where they do not meet WCAG AA. */
export function palette(brandText, scheme) {
  const brand = color(brandText)
  const track = color(TOKENS.colors.pill[scheme])
  const ink = inkOn(brand)
  const knob = visible(knobColor(brand, track), track)
  return Object.fromEntries(Object.entries({
    ground: brand, ink, progress: progressOn(brand, ink), knob, knobInk: inkOn(knob), confirm: brand,
    confirmPressed: contrasting(brand, 0.3, 0.15), confirmInk: ink,
  }).map(([name, parts]) => [name, hexadecimal(parts)]))
}

// MARK: - The knob under a finger (4.5)

/** The progress of a drag at `x` whose finger gripped at `grip`: the knob stays under the finger. */
export function dragged(x, grip, way, isOn, isRightToLeft) {
  if (!(way > 0) || !Number.isFinite(x) || !Number.isFinite(grip)) return 0
  return Math.min(Math.max((isOn !== isRightToLeft ? grip - x : x - grip) / way, 0), 1)
}

/** The progress `seconds` after a release: a critically damped spring that begins with the finger's velocity, in track lengths per second. */
export function sprung(from, target, velocity, duration, seconds) {
  if (seconds >= duration) return target
  const pulse = TOKENS.motion.releaseSpring / duration
  const away = from - target
  return Math.min(Math.max(target + (away + (velocity + pulse * away) * seconds) * Math.exp(-pulse * seconds), 0), 1)
}

/** Whether a release completes the change. `velocity` is in widths per second, positive forward. */
export function completes(isOn, part, velocity) {
  const { heavyPart, lightBackVelocity, lightStillVelocity, lightPart } = TOKENS.motion
  if (isOn) return part >= heavyPart
  return velocity >= -lightBackVelocity && !(Math.abs(velocity) < lightStillVelocity && part < lightPart)
}

// MARK: - Untrusted input

/** The locale that matches `identifier`, as `ConnectButtonLocale` in Swift; or null. */
export function matchingLocale(identifier) {
  const name = String(identifier).slice(0, 128).replace(/[.@].*$/s, "").replaceAll("_", "-")
  let locale
  try { locale = new Intl.Locale(name).maximize() } catch { return null }
  const { language, script, region } = locale
  const isOneOf = text => text.split(" ").includes(region)
  switch (language) {
    case "en": return isOneOf("US AS GU MH MP PH PR UM VI 840") ? "en-US" : "en-GB"
    case "es": return isOneOf("419 AR BO BR BZ CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV US UY VE") ? "es-419" : "es"
    case "fr": return region === "CA" ? "fr-CA" : "fr"
    case "pt": return region === "BR" ? "pt-BR" : "pt-PT"
    case "no": case "nb": case "nn": return "nb"
    case "zh": case "cmn": case "yue": return script === "Hant" ? "zh-Hant" : "zh-Hans"
    default: return Object.hasOwn(WORDS, language) ? language : null
  }
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** The URL if the page may open it: https, or http on loopback; never with credentials. */
export function safeURL(text) {
  if (typeof text !== "string" || text.length > 8192) return null
  let url
  try { url = new URL(text) } catch { return null }
  if (url.username || url.password) return null
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname)) ? url.href : null
}

const record = value => (value && typeof value === "object" && !Array.isArray(value) ? value : {})
const words = (value, most = 400) => (typeof value === "string" ? value.slice(0, most) : "")
const list = (value, most = 8) => (Array.isArray(value) ? value.slice(0, most).map(record) : [])
const among = (value, ...known) => (known.includes(value) ? value : known[0])
const amount = value => (Number.isFinite(value) ? Math.max(value, 0) : 0)
const ACTIONS = ["retry", "cancel", "undo", "disconnect", "keep", "about"]
const FAILURES = /^[a-z_]{1,40}$/

const readRuns = value => list(value, 16).map(run => ({ text: words(run.text, 2000), style: among(run.style, "plain", "mark", "link") }))

const readActions = value => list(value)
  .filter(action => ACTIONS.includes(action.kind))
  .map(action => ({ kind: action.kind, title: words(action.title, 100) }))

const readService = value => ({ shortName: words(value.shortName, 200), name: words(value.name, 200), icon: safeURL(value.icon),
                                brand: hexadecimal(color(value.brand)), url: safeURL(value.url) })

function readState(value) {
  const connection = record(value.connection)
  const failure = record(value.failure)
  const undo = record(value.undo)
  const { progress } = value
  return {
    step: value.step, next: Object.hasOwn(TOKENS.looks, value.next) ? value.next : null, email: words(value.email, 254),
    connection: value.connection && {
      url: safeURL(connection.url), primary: readService(record(connection.primary)), connecting: readService(record(connection.connecting)),
    },
    failure: typeof failure.kind === "string" && FAILURES.test(failure.kind) ? { kind: failure.kind, detail: words(failure.detail, 2000) } : null,
    progress: Number.isFinite(progress) ? Math.min(Math.max(progress, 0), 1) : among(progress, "none", "indeterminate"),
    undo: amount(undo.total) > 0 ? { remaining: Math.min(amount(undo.remaining), undo.total), total: undo.total } : null,
    refusals: Number.isSafeInteger(value.refusals) ? value.refusals : null,
    manageURL: safeURL(value.manageURL), setUpURL: safeURL(value.setUpURL), storeURL: safeURL(value.storeURL), termsURL: safeURL(value.termsURL) ?? "https://ifttt.com/terms",
  }
}

function readFace(value) {
  const about = record(value.about)
  return {
    label: words(value.label), name: words(value.name), toggled: words(value.toggled), announcement: words(value.announcement, 1000),
    footer: readRuns(value.footer), tone: among(value.tone, "plain", "lead", "error"), actions: readActions(value.actions),
    choices: readActions(value.choices), emailField: words(value.emailField, 100), emailConfirm: words(value.emailConfirm, 100),
    about: value.about && {
      title: readRuns(about.title), legal: readRuns(about.legal), close: words(about.close, 100), manage: words(about.manage, 100),
      store: words(about.store, 100),
      benefits: (Array.isArray(about.benefits) ? about.benefits : []).slice(0, BENEFITS.length).map(text => words(text)),
    },
  }
}

/** A validated answer, or null. */
export function readAnswer(value) {
  const answer = record(value)
  const state = record(answer.state)
  if (!Object.hasOwn(TOKENS.looks, state.step) || typeof state.step !== "string") return null
  return { revision: Number.isSafeInteger(answer.revision) ? answer.revision : 0, token: words(answer.token, 1024),
           locale: matchingLocale(answer.locale) ?? "en-US", state: readState(state), face: readFace(record(answer.face)),
           canOpen: answer.canOpen === true, open: safeURL(answer.open), isCounted: answer.isCounted === true }
}

const MOST_BYTES = 256 * 1024
/** The identifier of this page: only it asks for the address, and only it redirects the user. */
const PAGE = Array.from(crypto.getRandomValues(new Uint32Array(4)), part => part.toString(36)).join("")
const REQUEST_TIMEOUT = 30_000

class Refusal extends Error {
  constructor(kind, status = 0) {
    super(kind)
    this.kind = kind
    this.status = status
  }
}

/** Sends a request, and reads at most the maximum length of an answer. */
async function ask(url, options, signal) {
  let response, text = ""
  try {
    response = await fetch(url, { credentials: "same-origin", cache: "no-store", redirect: "error", referrerPolicy: "same-origin", ...options,
                                  headers: { Accept: "application/json", ...options.headers },
                                  signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT)]) })
    if (response.ok) {
      const decoder = new TextDecoder()
      for (let reader = response.body.getReader(), bytes = 0; ;) {
        const { done, value } = await reader.read()
        if (done) break
        if ((bytes += value.length) > MOST_BYTES) {
          reader.cancel()
          throw new Refusal("unavailable", response.status)
        }
        text += decoder.decode(value, { stream: true })
      }
    }
  } catch (error) {
    if (signal.aborted || error instanceof Refusal) throw error
    // Without a response, it is the page's own server that cannot be reached, not IFTTT.
    throw new Refusal(error.name === "TimeoutError" ? "unavailable" : navigator.onLine ? "unreachable" : "offline")
  }
  if (!response.ok) {
    throw new Refusal({ 401: "not_allowed", 403: "not_allowed", 404: "unknown_connection", 429: "too_many" }[response.status] ?? "unavailable", response.status)
  }
  try {
    const answer = readAnswer(JSON.parse(text))
    if (answer) return answer
  } catch { /* Said below. */ }
  throw new Refusal("unavailable", response.status)
}

// MARK: - Drawing

const { geometry: G, type: T, colors: C, motion: M } = TOKENS
const u = points => `calc(${points} * var(--u))`
const curve = points => `cubic-bezier(${points.join(", ")})`
const shade = name => `light-dark(${C[name].light}, ${C[name].dark})`
const EASE = curve(M.easeInOut)
const CURVES = { linear: "linear", easeIn: curve(M.easeIn), easeOut: curve(M.easeOut), easeInOut: EASE }
const PRESS = `opacity var(--press, ${M.press}s) ${EASE}`
const LINE = T.footer * T.footerLineHeight
// On a watch, or with very large text, insets and knob shrink in favour of the text.
const KNOB = `min(${u(G.knobDiameter)}, 30cqi)`
const BESIDE = `min(${u(G.labelInsetAtKnob)}, 30cqi + ${u(4 * G.knobInset)})`
const ROOMY = `clamp(${u(8)}, 100cqi - ${u(250)}, ${u(G.labelInset)})`

// A page's rules for the element would override, and its text styles would be inherited: the body resets both.
const STYLE = `
:host { display: block; inline-size: 100%; max-inline-size: ${u(G.maximumWidth)}; margin-inline: auto }
:host, .body { --u: max(1px, .0625rem) }
.body { all: initial; color-scheme: inherit; visibility: inherit; display: block; max-inline-size: ${u(G.maximumWidth)}; margin-inline: auto; text-align: center;
  font: ${T.demiBold} ${u(T.footer)}/${T.footerLineHeight} var(--connect-button-font, ${T.family}); -webkit-text-size-adjust: 100% }
:host([hidden]), :host(:state(hidden)), :host([hidden]) .body, :host(:state(hidden)) .body { display: none }
:host([theme=light]) .body { color-scheme: light } :host([theme=dark]) .body { color-scheme: dark } :host([theme=auto]) .body { color-scheme: light dark }
/* Its width depends on the direction, so that an observer notices a change. */
i { position: absolute; padding-inline-start: 1px; padding-left: 0 }
* { box-sizing: border-box } .switch > span, .lines, .leaving, button.text, .choices button, li span, h2, .legal { unicode-bidi: plaintext } [hidden] { display: none !important }
button, input { font: inherit; color: inherit; margin: 0; padding: 0; border: 0; background: none; -webkit-tap-highlight-color: transparent }
button:not([aria-disabled=true]), a { cursor: pointer }
button, svg { transition: ${PRESS} }
:focus { outline: none }
:focus-visible { outline: ${u(3)} solid var(--connect-button-focus, ${shade("focus")}); outline-offset: ${u(2)} }
.body { --pill: var(--connect-button-pill, ${shade("pill")}); --ink: var(--connect-button-ink, ${shade("pillInk")});
  --neutral: var(--connect-button-progress, ${shade("progress")}) }
.pill { position: relative; display: grid; grid-template-columns: minmax(0, 1fr); min-block-size: ${u(G.height)}; border-radius: ${u(G.cornerRadius)}; background: var(--pill);
  color: var(--ink); touch-action: pan-y; user-select: none; -webkit-user-select: none; -webkit-touch-callout: none; container-type: inline-size;
  --way: var(--turn) * (100cqi - ${KNOB} - ${u(2 * G.knobInset)}) }
.body { --turn: 1 } [dir=rtl] { --turn: -1 }
.pressed { --press: ${M.highlight}s } .flashes { --press: ${M.press}s }
.pressed:not(.pill), .pill.pressed .face, .pill.pressed[data-knob=hidden] .switch { opacity: ${M.pressOpacity} }
.pill > * { grid-area: 1 / 1 }
.grounds { position: absolute; inset: 0; overflow: hidden; border-radius: inherit; contain: strict }
.ground { position: absolute; inset: 0; opacity: 0 }
.ground.brand { background: var(--brand) } .ground.grey { background: ${shade("emailTrack")} }
[data-ground=brand] .ground.brand, [data-ground=email] .ground.grey, .bar.shown { opacity: 1 }
/* At rest, no fringe of the pill shows around another ground. */
.pill:not(.moves):is([data-ground=brand], [data-ground=email]) { background: none }
[data-ground=brand] { --ink: var(--brand-ink); --neutral: var(--brand-progress) }
.bar { position: absolute; inset: 0; background: var(--neutral); opacity: 0; translate: calc((var(--fill, 0) - 1) * var(--turn) * 100%) }
@keyframes breathe { from { opacity: .35 } to { opacity: 1 } }
.switch { position: relative; display: grid; grid-template-columns: minmax(0, 1fr); align-items: center; border-radius: inherit; color: var(--ink);
  font-weight: ${T.bold}; line-height: 1.2 }
.switch > span { grid-area: 1 / 1; min-inline-size: 0; padding-inline: ${ROOMY}; padding-block: ${u(8)}; white-space: nowrap;
  /* A text that goes away under a mouse button would take the click along. */
  pointer-events: none; font-size: calc(var(--fit, 1) * ${T.label} * var(--u)) }
[data-knob=start] .switch > span { padding-inline-start: ${BESIDE} } [data-knob=end] .switch > span { padding-inline-end: ${BESIDE} }
[data-knob] .switch > .coming { padding-inline: ${ROOMY} }
.switch.wraps > span { white-space: normal; overflow-wrap: anywhere; hyphens: auto; text-wrap: balance }
.pulses :is(.switch > span, .email, .choices) { animation: pulse ${M.pulse}s linear infinite alternate }
@keyframes pulse { to { opacity: ${M.pulseOpacity} } }
.knob { position: absolute; inset-block: ${u(G.knobInset)}; margin-block: auto; inset-inline-start: ${u(G.knobInset)}; inline-size: ${KNOB};
  block-size: ${KNOB}; pointer-events: none; opacity: 0; translate: calc(var(--place, 0) * var(--way)); will-change: translate;
  color: light-dark(var(--knob-ink-light), var(--knob-ink-dark)); font-size: ${u(26)}; font-weight: ${T.heavy}; line-height: 1 }
[data-knob=start] .knob, [data-knob=end] .knob { opacity: 1 }
.knob * { position: absolute; inset: 0; margin: auto } .face { transition: ${PRESS} } .disc, .shade { border-radius: 50% }
.disc { background: light-dark(var(--knob-light), var(--knob-dark)) }
.shade { box-shadow: 0 ${u(G.knobShadowOffset)} ${u(2 * G.knobShadowRadius)} rgb(0 0 0 / ${G.knobShadowOpacity}) }
.icon { display: grid; place-items: center }
/* Drawn as delivered, and IFTTT delivers white: on a bright knob an edge keeps it visible. */
.knob img { inline-size: min(${u(G.icon)}, 16cqi); block-size: min(${u(G.icon)}, 16cqi); object-fit: contain;
  filter: drop-shadow(0 0 1px light-dark(var(--edge-light), var(--edge-dark))) }
.email { position: relative; display: flex } .email > * { opacity: 0 } [data-input=email] .email > *, [data-input=choice] .choices { opacity: 1 }
.email input { flex: 1; min-inline-size: 0; padding-inline: ${ROOMY} ${u(8)}; padding-block-start: ${u(G.emailInsetTop)}; color: ${shade("emailInk")};
  font-size: clamp(${u(16)}, 5.6cqi, ${u(T.email)}); text-overflow: ellipsis; text-align: start; unicode-bidi: plaintext; border-radius: ${u(G.cornerRadius)}; user-select: text; -webkit-user-select: text }
[dir=rtl] .email input { text-align: right }
.email input::placeholder { color: ${shade("emailPlaceholder")}; opacity: 1 }
.email input:focus-visible { outline: none }
.pill:has(input:focus-visible) { outline: ${u(3)} solid var(--connect-button-focus, ${shade("focus")}); outline-offset: ${u(3)} }
.email input[aria-invalid=true] { text-decoration: underline wavy ${C.error.light}; text-underline-offset: ${u(4)} }
.email button { flex: none; inline-size: min(${u(G.confirm)}, 30cqi); border-start-end-radius: ${u(G.cornerRadius)}; border-end-end-radius: ${u(G.cornerRadius)};
  background: var(--brand); color: var(--confirm-ink); display: grid; place-items: center; position: relative; z-index: 1; transition: none }
.email .pressed.pressed { background: var(--confirm-pressed); opacity: 1 } .email .pressed svg { opacity: ${M.pressOpacity} }
[dir=rtl] .email button svg { transform: scaleX(-1) }
.choices { position: relative; z-index: 1; opacity: 0; display: flex; flex-wrap: wrap; gap: ${u(G.knobInset)}; padding: ${u(G.knobInset)} }
.choices[inert] { position: absolute; inset: 0 } .choices button { flex: 1 1 ${u(90)}; min-inline-size: 0; min-block-size: ${u(44)}; border-radius: ${u(G.knobDiameter / 2)}; padding: ${u(4)} ${u(12)}; font-size: ${u(17)}; font-weight: ${T.bold};
  line-height: 1.2; overflow-wrap: anywhere; background: var(--neutral); color: var(--ink) }
.choices button:last-child { background: var(--ink); color: var(--pill) }
.choices :focus-visible, .switch:focus-visible { outline-offset: ${u(3)} }
.check { position: absolute; inset: 0; margin: auto; inline-size: ${u(G.checkMark)}; block-size: ${u(G.checkMark)}; overflow: visible; pointer-events: none;
  fill: none; stroke: var(--brand-ink); stroke-width: ${G.checkMarkLine}; stroke-linecap: round; stroke-linejoin: round; opacity: 0 }
.check circle { stroke-opacity: .32; transform-origin: center } .check .dot { fill: var(--brand-ink); stroke: none; opacity: 0 }
.footer { position: relative; margin-block-start: ${u(G.footerGap)}; min-block-size: ${u(LINE * G.footerLines)}; color: var(--connect-button-footer, ${shade("footer")}); overflow-wrap: anywhere; text-wrap: balance; word-break: auto-phrase }
.footer p { margin: 0; display: inline; unicode-bidi: normal } .footer .text { color: inherit; font: inherit; font-weight: ${T.demiBold} } .footer .lead { text-transform: uppercase; letter-spacing: .03em }
.footer[data-tone=error] { color: var(--connect-button-error, ${shade("error")}) }
.footer button { min-block-size: ${u(24)}; min-inline-size: ${u(24)}; margin-block: ${u((LINE - 24) / 2)}; border-radius: ${u(4)}; text-align: center }
.footer .action { text-decoration: underline; text-underline-offset: .15em; margin-inline: .5ch; font-weight: ${T.bold} }
:host([footer=none]) .footer:not([data-needed]) { display: none }
.footer .action svg { vertical-align: -.2em }
.mark { font-weight: ${T.heavy}; text-transform: none }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.leaving { position: absolute; inset-inline: 0; inset-block-start: 0; pointer-events: none }
dialog { color-scheme: dark; border: 0; padding: 0; background: ${C.about.dark}; color: ${C.aboutInk.dark}; inline-size: min(${u(480)}, 100vw); max-inline-size: none;
  max-block-size: 100dvh; border-radius: ${u(18)}; text-align: start; overflow: auto; overscroll-behavior: contain; overflow-wrap: anywhere; user-select: text;
  font-size: ${u(T.aboutRow)} }
dialog:not([open]) { display: none }
dialog::backdrop { background: rgb(0 0 0 / .5) }
@media (max-width: 480px) { dialog { margin: auto 0 0; border-end-start-radius: 0; border-end-end-radius: 0 } }
.sheet { padding: ${u(20)} ${u(30)} ${u(40)}; animation: rise ${M.change}s ${curve(M.easeOut)} } @keyframes rise { from { transform: translateY(12%); opacity: 0 } }
.close { display: grid; place-items: center; inline-size: ${u(44)}; block-size: ${u(44)}; margin: ${u(-10)} ${u(-12)} ${u(10)} auto; border-radius: 50% }
.pair { display: flex; align-items: center; gap: ${u(24)} } .pair a, .pair > span { display: grid; place-items: center; inline-size: ${u(44)}; block-size: ${u(44)};
  border-radius: ${u(8)}; font-size: ${u(24)}; font-weight: ${T.heavy}; color: inherit; text-decoration: none }
.pair img { inline-size: 100%; block-size: 100%; object-fit: contain } [dir=rtl] .pair svg { transform: scaleX(-1) }
h2 { margin: ${u(16)} 0 0; font-size: ${u(T.aboutTitle)}; line-height: 1.2; font-weight: ${T.demiBold} } dialog a { color: inherit }
h2 a { text-decoration: none } h2 a:hover { text-decoration: underline }
[dir=rtl] dialog { text-align: right } ul { list-style: none; margin: ${u(36)} 0; padding: 0; display: grid; gap: ${u(24)} } li { display: flex; gap: ${u(24)}; text-wrap: balance } li svg { flex: none; color: ${C.aboutSecondary.dark} }
.pillow { display: block; margin-block: ${u(24)}; padding: ${u(16)}; border-radius: ${u(40)}; background: ${C.aboutManage.dark}; font-size: ${u(T.aboutManage)}; font-weight: ${T.bold};
  text-align: center; text-decoration: none; line-height: 1.2 } .pillow.store { border: 1px solid ${C.aboutSecondary.dark}; background: none }
.legal { margin: 0; color: ${C.aboutSecondary.dark} } dialog :focus-visible { outline-color: ${C.focus.dark} }
@media (prefers-reduced-motion: reduce) {
  * { transition: none !important } .sheet, .pulses * { animation: none !important }
  .bar.waits { animation: breathe ${M.pulse}s ${EASE} infinite alternate } }
@media (forced-colors: active) {
  .pill, .choices button, .email button { border: 1px solid ButtonText; background: ButtonFace } .switch, .choices button, .email button { color: ButtonText !important }
  .disc { background: ButtonText; border: 1px solid ButtonFace } .icon { display: none } .bar { background: Highlight; forced-color-adjust: none; inset-block-start: auto; block-size: ${u(6)} }
  .ground { display: none } .email input { color: FieldText } .check { stroke: ButtonText }
  .pair a, .pair > span { background: #000; color: #fff; forced-color-adjust: none } }
@media (prefers-contrast: more) {
  .footer:not([data-tone=error]), .legal { color: light-dark(#000, #fff) } dialog, .pillow { border: 1px solid }
  .pill { outline: ${u(1)} solid light-dark(#000, #fff) } .email input, .email input::placeholder { color: #000 } .check circle { stroke-opacity: 1 } }
`

/** A sheet belongs to one document. */
function sheet({ CSSStyleSheet }) {
  const made = new CSSStyleSheet()
  made.replaceSync(STYLE)
  return made
}

const SHEET = sheet(window)

/** An element. Text is always text. */
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(key, value)
  element.append(...children.filter(child => child !== null))
  return element
}

function drawing(size, ...shapes) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  const [width, height] = size
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" })) svg.setAttribute(key, value)
  for (const [name, attributes] of shapes) {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", name)
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value)
    svg.append(shape)
  }
  return svg
}

const stroke = d => ["path", { d, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" }]
const TRIANGLE = [[G.confirmGlyphWidth, G.confirmGlyphHeight], ["path", { d: "M0 0 9 8 0 16z", fill: "currentColor" }]]
const INFORMATION = [[16, 16], ["circle", { cx: 8, cy: 8, r: 7, fill: "none", stroke: "currentColor", "stroke-width": 1.5 }], stroke("M8 7.5V11.5M8 4.6V4.7")]
const CROSS = [[25, 25], stroke("M5 5 20 20M20 5 5 20")]
const ARROW = [[31, 26], stroke("M1 13H29M18 2 29 13 18 24")]
/** Overlapping squares, a toggle, a padlock, a plug. */
const BENEFITS = ["M3 3h12v12H3zM9 9h12v12H9z", "M8 6h8a6 6 0 0 1 0 12H8A6 6 0 0 1 8 6zM16 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
                  "M5 11h14v10H5zM8 11V7a4 4 0 0 1 8 0v4", "M9 3v5M15 3v5M6 8h12v4a6 6 0 0 1-12 0zM12 18v3"]

/** The ring and the tick, in the ring's square of 42 points; the dot flies in one of 72 around it. */
const TICK = "M13.05 21 18 25.95 27.9 16.05"
const CHECK = [[G.checkMark, G.checkMark], ["circle", { cx: 21, cy: 21, r: 19.5 }], ["circle", { class: "dot", cx: 0, cy: 0, r: 1.5 }],
               ["path", { d: TICK, pathLength: 1, "stroke-dasharray": 1, "stroke-dashoffset": 1 }]]

/** The dot's path: from left of the centre to the left edge through the lower left corner, then to the tick through the upper left one. */
export function curl() {
  const quadratic = (a, b, c) => Array.from({ length: 25 }, (_, at) => {
    const t = at / 24
    return a.map((part, axis) => (1 - t) ** 2 * part + 2 * t * (1 - t) * b[axis] + t * t * c[axis])
  })
  return [...quadratic([18, 21], [-15, 57], [-15, 21]), ...quadratic([-15, 21], [-15, -15], [13.05, 21]).slice(1)]
    .map(([x, y]) => ({ transform: `translate(${x}px, ${y}px)`, opacity: 1 }))
}

/** The offset of the pill `t` seconds after an address was refused: back from the left, with a spring that starts at rest. */
export function shaken(t) {
  const { shakeDistance, shakeOut, shakeMass, shakeStiffness, shakeDamping } = M
  // Out on the standard curve, which the animation has.
  const decay = shakeDamping / (2 * shakeMass)
  const pulse = Math.sqrt(shakeStiffness / shakeMass - decay ** 2)
  const since = t - shakeOut
  return -shakeDistance * Math.exp(-decay * since) * (Math.cos(pulse * since) + decay / pulse * Math.sin(pulse * since))
}

/** Steps that change at the server, so that the button follows it. */
const FOLLOWED = ["loading", "verifying", "creating_account", "going_to_service", "connecting", "disconnecting", "disconnected"]

/** Whether a change of steps is animated with the check mark: an attempt has succeeded. */
export const celebrates = (from, to) =>
  ["verifying", "creating_account", "going_to_service", "connecting"].includes(from) && TOKENS.looks[to].knob === "end"

/** The timeline of a change, as `Timeline.between` in Swift; undefined for one in which everything fades. */
export function between(from, to) {
  const [old, now] = [from, to].map(step => TOKENS.looks[step])
  if (celebrates(from, to)) return "arriving"
  if (from === "disconnected" && now.knob === "start") return "returning"
  if (now.knob !== "hidden" || now.input === "choice") return undefined
  if (old.knob === "start") return now.input === "email" ? "email" : "leaving"
  return old.isOn ? "disconnecting" : undefined
}

/** The timeline under a finger. */
export const dragging = (from, to) => TOKENS.looks[to].input === "choice" ? "asking" : between(from, to) ?? "leaving"

const along = part => `calc(${part} * var(--way))`
/** What moves: the part, its CSS property, and its value as CSS. As `Channel` in Swift; the texts and the bar's length have their own. */
const CHANNELS = {
  knobPlace: ["knob", "translate", along], knob: ["knob", "opacity"], disc: ["disc", "opacity"], discScale: ["disc", "scale"],
  discRound: ["disc", "borderRadius", (part, isTurned) => part ? "50%" : isTurned ? "50% 0 0 50%" : "0 50% 50% 0"], icon: ["icon", "opacity"], shadow: ["shade", "opacity"],
  confirmPlace: ["confirm", "translate", part => along(part - 1)], confirmScale: ["confirm", "scale"],
  confirmRound: ["confirm", "borderRadius", (part, isTurned) => part ? "50%" : isTurned ? "50% 0 0 50%" : "0 50% 50% 0"],
  confirm: ["confirm", "opacity"], field: ["field", "opacity"], emailGround: ["grey", "opacity"], brandGround: ["brand", "opacity"],
  choices: ["choices", "opacity"], bar: ["bar", "opacity"], mark: ["check", "opacity"], markPlace: ["check", "translate", along],
  ring: ["ring", "scale"], dot: ["dot"], tick: ["tick", "strokeDashoffset", part => 1 - part],
}
/** The opacity of the part that a channel belongs to: what is not seen takes its place without a movement. */
const SEEN = { knobPlace: "knob", disc: "knob", discScale: "knob", discRound: "knob", icon: "knob", shadow: "knob",
               confirmPlace: "confirm", confirmScale: "confirm", confirmRound: "confirm", markPlace: "mark" }
/** The drawing of the check mark goes on while the mark fades. */
const DRAWING = ["ring", "dot", "tick"]

const offers = (face, kind) => face.actions.some(action => action.kind === kind)
const carried = (name, locale) => WORDS[locale][WORD_NAMES.indexOf(name)] ?? ""

/** The event of a tap on the pill. */
const TAPPED = ["turn_on", "turn_off", "proceed", "set_up", "retry"]
/** Events that are accepted while another message is pending. */
const CANCELS = ["cancel", "keep", "undo", "returned"]
/** Failures that no retry repairs. */
const FINAL = ["unknown_connection", "not_allowed"]
const RETRY_AFTER = [2000, 4000, 8000]
const POLL_AFTER = [2000, 4000, 8000, 15_000, 30_000]
const FOLLOW_FOR = 10 * 60_000
/** The connection whose service this tab has gone to: on its return it shows the check mark. */
const AWAY = "connect-button-away"
/** The server's notice of a refused address expires after two seconds (F015). */
const NOTICE_OVER = 2100
/** For resting buttons: the number of polls without a stream, and of streams on a page, because a browser has six connections to a server. */
const RESTING_LOOKS = 2
const RESTING_STREAMS = 2
const ICON_AFTER = 2000
/** How long a message may be without an answer before the button shows that it waits. */
const WAITING_AFTER = 300

/** The buttons on the page: two of one connection show the same. */
const ALIVE = new Set()

/** Below 0 when an answer is older than another of the same session, above 0 when it is newer. Another token means another session, with its own revisions. */
const age = (answer, shown) => (!shown || answer.token !== shown.token ? 1 : answer.revision - shown.revision)

// MARK: - The element

export class ConnectButton extends HTMLElement {
  static observedAttributes = ["connection", "base", "locale", "email"]

  #root = this.attachShadow({ mode: "open", delegatesFocus: true })
  #internals = this.attachInternals()
  #answer = null          // the answer that is drawn
  #connected = null       // aborts everything when the element leaves the page
  #loading = null         // aborts the running load
  #sending = null         // aborts the message that is waiting for its answer
  #isWaiting = false      // it has waited so long that the button shows it
  #heard = null           // the newest answer that arrived meanwhile
  #later = null           // the next poll for a temporary state
  #loads = 0              // how often a retry of loading was sent
  #counted = null         // the connection whose impression was counted
  #counting = Promise.resolve()
  #unsent = null          // the event that could not be sent, for the retry
  #next = null            // a cancelling event that waits for a pending message
  #leads = false          // this page started the work and redirects the user
  #leaving = null         // the user is about to be redirected
  #following = null
  #drag = null
  #released = null        // the spring of the released knob
  #moves = new Map()      // what moves: the animation of each channel
  #isOn = null            // whether the connection was on when it was last at rest
  #label = ""
  #typed = false          // the user has edited the email field
  #iconTried = 0
  #pointerType = ""
  #press = null           // a touch that is shown as pressed, or about to be
  #swiped = false         // it moved too far for a tap

  constructor() {
    super()
    this.#root.adoptedStyleSheets = [SHEET]
    const part = this.#part = {}
    part.label = h("span")
    part.switch = h("button", { class: "switch", type: "button", "aria-describedby": "footer" }, part.label)
    part.bar = h("div", { class: "bar" })
    part.shade = h("div", { class: "shade" })
    part.disc = h("div", { class: "disc" })
    part.icon = h("div", { class: "icon" })
    part.knob = h("div", { class: "knob", part: "knob", "aria-hidden": "true" }, h("div", { class: "face" }, part.shade, part.disc, part.icon))
    part.field = h("input", { type: "email", name: "email", required: "", autocomplete: "email", inputmode: "email", enterkeyhint: "done", autocapitalize: "none",
                              spellcheck: "false", maxlength: 254, "aria-describedby": "footer" })
    part.confirm = h("button", { type: "submit" }, drawing(...TRIANGLE))
    part.form = h("form", { class: "email", novalidate: "" }, part.field, part.confirm)
    part.choices = h("div", { class: "choices", role: "group", "aria-describedby": "footer" })
    part.check = drawing(...CHECK)
    part.check.setAttribute("class", "check")
    ;[part.ring, part.dot, part.tick] = part.check.children
    part.brand = h("div", { class: "ground brand" })
    part.grey = h("div", { class: "ground grey" })
    part.pill = h("div", { class: "pill", part: "pill" }, h("div", { class: "grounds" }, part.brand, part.grey, part.bar),
      part.switch, part.form, part.choices, part.check, part.knob)
    part.footer = h("div", { class: "footer", part: "footer", id: "footer" })
    part.status = h("div", { class: "unseen", role: "status" })
    part.body = h("div", { class: "body" }, part.pill, part.footer, part.status)
    part.sense = h("i", { "aria-hidden": "true" })
    this.#root.append(part.body, part.sense)
  }

  #part

  connectedCallback() {
    // A property that was set before the element was defined would hide the accessor.
    if (Object.hasOwn(this, "answer")) {
      const { answer } = this
      delete this.answer
      this.answer = answer
    }
    // After Back, a page is as old as its history entry, and a removed button as old as its last answer.
    const isOld = this.#connected || performance.getEntriesByType("navigation")[0]?.type === "back_forward"
    this.#connected = new AbortController()
    ALIVE.add(this)
    this.#listen(this.#connected.signal)
    const inside = this.querySelector(":scope > script[type='application/json']")
    if (!this.#answer && inside) {
      try { this.answer = JSON.parse(inside.textContent) } catch { /* As if there were none. */ }
    }
    if (!this.#answer || this.#answer.isLocal) return void this.#load()
    this.#follow()
    this.#countShown()
    if (isOld) this.#load(true)
  }

  disconnectedCallback() {
    this.#connected?.abort()
    this.#loading?.abort()
    clearTimeout(this.#later)
    clearTimeout(this.#leaving)
    this.#unfollow()
    this.#settle()
    ALIVE.delete(this)
    this.#part.about?.remove()
    this.#part.about = this.#drag = null
    this.#answered()
    if (!this.#answer) return
    this.#stopScrubbing()
    this.#stand()
    this.#settleBack()
  }

  /** In another document, such as a frame's, the old style sheet does not apply. */
  adoptedCallback() {
    const { defaultView } = this.ownerDocument
    if (defaultView) this.#root.adoptedStyleSheets = [defaultView === window ? SHEET : sheet(defaultView)]
  }

  attributeChangedCallback(name, before, now) {
    if (!this.isConnected || before === now || !this.#connected) return
    if (name === "email") return this.#answer?.state.step === "email" ? this.#suggest() : undefined
    if (name === "connection") this.#emptyField()
    this.#loading?.abort()
    this.#unfollow()
    if (this.#isPreview) return
    this.#answer = null
    this.#load()
  }

  /** A copy of the answer that is drawn. */
  get answer() { return structuredClone(this.#answer) }

  set answer(value) {
    const answer = readAnswer(value)
    if (!answer) throw new TypeError("the response is not that of a Connect Button's server")
    if (!this.#isPreview && age(answer, this.#answer) < 0) return
    this.#loading?.abort()
    this.#show({ ...answer, open: null })
  }

  /** Fetches the state again. */
  refresh() { return this.#load(true) }

  get #base() {
    try { return new URL(this.getAttribute("base") || "/connect", document.baseURI) } catch { return null }
  }

  /** The server receives the address and the token, so it must be of this page's origin. */
  get #isForeign() { return this.#base?.origin !== (this.ownerDocument.defaultView ?? window).origin }

  #url(route = "", query = {}) {
    const base = this.#base
    const locale = this.getAttribute("locale")
    const items = new URLSearchParams({ ...query, ...locale ? { locale: locale.slice(0, 64) } : {} })
    return `${base.origin}${base.pathname.replace(/\/+$/, "")}/${encodeURIComponent(this.getAttribute("connection") ?? "")}${route}`
      + (items.size ? `?${items}` : "")
  }

  /** Without a connection there is no server. */
  get #isPreview() { return !this.hasAttribute("connection") }

  get #look() { return TOKENS.looks[this.#answer?.state.step ?? "loading"] }

  /** What a tap on the pill does. After a failed load it tries again, as the action does. */
  get #input() {
    return this.#answer?.state.step === "loading_failed" && offers(this.#answer.face, "retry") ? "retry" : this.#look.input
  }

  get #isStill() { return matchMedia("(prefers-reduced-motion: reduce)").matches }

  get #isRightToLeft() { return getComputedStyle(this).direction === "rtl" }

  // MARK: Requests

  #listen(signal) {
    const { body, pill, switch: control, form, knob } = this.#part
    const on = (target, type, body, options) => target.addEventListener(type, body, { signal, ...options })
    on(control, "click", event => this.#tapped(event))
    on(form, "submit", event => {
      event.preventDefault()
      this.#send("email", this.#part.field.value.trim())
    })
    on(form, "input", () => {
      this.#typed = true
      this.#part.field.removeAttribute("aria-invalid")
    })
    on(form, "keydown", event => { if (event.key === "Escape") this.#act("cancel") })
    on(this.#part.choices, "keydown", event => { if (event.key === "Escape") this.#act("keep") })
    on(body, "pointerdown", event => this.#pressed(event))
    on(body, "pointermove", ({ clientX, clientY }) => {
      if (!this.#press || this.#press.isOver || Math.hypot(clientX - this.#press.x, clientY - this.#press.y) <= M.slop) return
      this.#swiped = true
      this.#settle()
    })
    on(body, "pointerup", () => this.#relax())
    on(body, "pointercancel", () => this.#settle())
    on(body, "pointerout", event => { if (this.#press && !this.#press.isOver && !this.#press.target.contains(event.relatedTarget)) this.#settle() })
    on(body, "click", event => {
      // A key press neither moves nor double-clicks.
      if (event.detail && this.#swiped) {
        event.preventDefault()
        return event.stopImmediatePropagation()
      }
      if (event.detail <= 1) this.#settle(this.#pressable(event.target))
    }, { capture: true })
    on(pill, "pointerdown", event => this.#grasped(event))
    on(pill, "pointermove", event => this.#moved(event))
    on(pill, "pointerup", event => this.#lifted(event))
    on(pill, "pointercancel", event => this.#lifted(event, true))
    // The switch captures a finger until the pill takes it over: ignore that loss.
    on(pill, "lostpointercapture", event => { if (event.target === pill) this.#lifted(event, true) })
    on(knob, "dragstart", event => event.preventDefault())
    on(window, "online", () => {
      // A failed event is not sent again without the user; the offline state is cleared by the next successful request.
      if (this.#answer?.isLocal && !this.#unsent) this.#load()
      else this.#lookAgain(RETRY_AFTER.length)
    })
    // Browsers do not keep a page with an open stream for Back.
    on(window, "pagehide", () => this.#unfollow())
    on(window, "pageshow", event => { if (event.persisted) this.#lookAgain() })
    // A hidden page does not need one of the browser's few connections to a server either.
    for (const name of ["resume", "visibilitychange"]) on(document, name, () => { document.hidden ? this.#unfollow() : this.#lookAgain() })
    const sizes = new ResizeObserver(() => {
      this.#part.body.dir = this.#isRightToLeft ? "rtl" : "ltr"
      this.#fit()
    })
    sizes.observe(pill)
    sizes.observe(this.#part.sense, { box: "border-box" })
    signal.addEventListener("abort", () => sizes.disconnect())
  }

  /** Fetches the state; with nothing to show yet, it shows that and tries four times (2.5). A quiet load that fails changes nothing. */
  async #load(quiet = false, tries = quiet ? 0 : RETRY_AFTER.length) {
    const { isLocal, state } = this.#answer ?? {}
    if (quiet && (this.#isPreview || this.#sending || this.#drag || !state || isLocal && state.step === "loading")) return
    this.#loading?.abort()
    const { signal } = this.#loading = new AbortController()
    if (!quiet) this.#showLocally("loading")
    if (this.#isForeign) return this.#showLocally("loading_failed", new Refusal("not_allowed"))
    const url = this.#url("", { page: PAGE })
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const answer = await ask(url, {}, signal)
        if (!signal.aborted && age(answer, this.#answer) >= 0) this.#show({ ...answer, open: null })
        return
      } catch (error) {
        if (signal.aborted) return
        if (FINAL.includes(error.kind) || attempt >= tries) return quiet ? undefined : this.#showLocally("loading_failed", error)
        await this.#pause(RETRY_AFTER[attempt], signal)
      }
    }
  }

  #lookAgain(tries = 0) {
    if (this.#answer) this.#follow()
    this.#load(true, tries)
  }

  #pause(milliseconds, signal) {
    return new Promise(done => {
      const timer = setTimeout(done, milliseconds)
      signal.addEventListener("abort", () => { clearTimeout(timer); done() }, { once: true })
    })
  }

  /** Sends an event. One at a time: an event meanwhile is a double tap, unless it cancels. That aborts the message and follows it. */
  async #send(event, email, isLate = false) {
    if (!this.#answer) return
    if (this.#isPreview) return this.#settleBack()
    const isCancelling = CANCELS.includes(event)
    if (this.#sending) {
      if (!isCancelling || this.#sending.isCancelling) return
      this.#next = event
      return this.#sending.abort()
    }
    if (this.#isForeign) return this.#showLocally(this.#answer.state.step, new Refusal("not_allowed"))
    const sending = this.#sending = Object.assign(new AbortController(), { isCancelling })
    this.#heard = this.#unsent = this.#next = null
    this.#loading?.abort()
    clearTimeout(this.#leaving)
    this.#leaving = null
    this.#leads = !isCancelling
    if (event !== "proceed") this.#forgetAway()
    const { signal } = this.#connected
    sending.timer = setTimeout(() => this.#wait(), WAITING_AFTER)
    try {
      const answer = await this.#post(event, email, AbortSignal.any([signal, sending.signal]), isLate)
      if (signal.aborted) return
      this.#answered()
      // A resting stream polls rarely: open another one, which polls often.
      this.#unfollow()
      if (age(answer, this.#answer) >= 0) this.#show(answer)
      else this.#settleBack()
      if (this.#heard) this.#hear(this.#heard)
      if (this.#next) this.#send(this.#next)
      else if (answer.open) this.#open(answer.open)
    } catch (error) {
      if (signal.aborted) return
      this.#answered()
      if (this.#next) return this.#send(this.#next, null, true)
      this.#unsent = [event, email]
      this.#showLocally(this.#answer.state.step, error)
    }
  }

  #answered() {
    clearTimeout(this.#sending?.timer)
    this.#sending = null
    this.#isWaiting = false
  }

  /** The message has no answer yet: the button shows that it waits, and offers to cancel. */
  #wait() {
    this.#isWaiting = true
    const { state, face } = this.#answer
    this.#set("busy", true)
    this.#drawPill(this.#look, state, face)
    this.#drawFooter(state, face)
  }

  /** Redirects to the service once the server knows the URL, after a moment in which a new user can read whose account is created. */
  #goOn({ canOpen, isLocal, state }) {
    if (!canOpen || isLocal || !this.#leads || this.#leaving !== null) return
    const pause = state.email && state.step === "going_to_service" ? M.readable * 1000 : 0
    this.#leaving = setTimeout(() => { if (this.#answer?.canOpen) this.#send("proceed") }, pause)
  }

  #message(members) {
    const { revision, token } = this.#answer
    return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...members, revision, token, page: PAGE }) }
  }

  /** Sends an analytics event, only with the user's consent (W24). It outlives the page; nothing waits for it or fails with it. */
  #count(event, item) {
    const answer = this.#answer
    if (!answer.isCounted || this.#isPreview || this.#isForeign) return
    const [url, message] = [this.#url("/counts"), this.#message({ event, item })]
    // One after the other, so that they arrive in order.
    this.#counting = this.#counting.then(async () => {
      const { status } = await fetch(url, { ...message, credentials: "same-origin", keepalive: true, signal: AbortSignal.timeout(REQUEST_TIMEOUT) })
      if (status !== 202) answer.isCounted = false
    }).catch(() => {})
  }

  /** Once for each connection, after it was loaded. */
  #countShown() {
    const id = this.getAttribute("connection")
    if (!this.#answer.isCounted || !this.#answer.state.connection || this.#counted === id) return
    this.#counted = id
    this.#count("shown")
  }

  /** - isLate: it cancels a message that was aborted. Whether that arrived is unknown, so the server is asked for its revision. */
  async #post(event, email, signal, isLate) {
    if (isLate) {
      const { token, revision } = await ask(this.#url("", { page: PAGE }), {}, signal)
      this.#answer = { ...this.#answer, token, revision }
    }
    const seen = this.#answer
    const send = since => ask(this.#url("/events"), this.#message({ event, email, since }), signal)
    let fresh, since
    try {
      fresh = await send()
      // The message was about an older revision and was ignored: a notice expired, or another tab was faster.
      const isMissed = fresh.revision > seen.revision && !fresh.state.failure && !fresh.open && !CANCELS.includes(event)
      if (!isMissed || fresh.token !== seen.token) return fresh
      since = seen.revision
    } catch (error) {
      if (error.status !== 403) throw error
      // The session was restarted, with a new token.
      fresh = await ask(this.#url("", { page: PAGE }), {}, signal)
    }
    // Sends it again once if the user still sees the same. A browser may have sent it twice, and what the first one began may have been cancelled
    // elsewhere: the server ignores a repetition of what the user wanted before they last decided.
    if (fresh.state.step !== seen.state.step) return { ...fresh, open: null }
    this.#answer = { ...this.#answer, token: fresh.token, revision: fresh.revision }
    return send(since)
  }

  #open(url) {
    if (this.getAttribute("target") === "_blank") {
      const opened = window.open(url, "_blank")
      if (opened) return void (opened.opener = null)
    }
    // Also where the browser has blocked a new tab.
    try { sessionStorage.setItem(AWAY, this.getAttribute("connection")) } catch { /* Then the check mark is not shown on return. */ }
    location.assign(url)
  }

  get #isAway() {
    try { return sessionStorage.getItem(AWAY) === this.getAttribute("connection") } catch { return false }
  }

  #forgetAway() {
    try { sessionStorage.removeItem(AWAY) } catch { /* Then there is none. */ }
  }

  /** Whether this tab has returned from the service with this connection; true once. */
  #comesBack() {
    const { isLocal, state } = this.#answer
    if (isLocal || this.#isPreview || state.step === "loading" || state.step === "going_to_service" || !this.#isAway) return false
    this.#forgetAway()
    return true
  }

  /** The browser's Back, not IFTTT, has led this tab here (F032). */
  #returnEarly() {
    if (this.#sending || this.#isPreview || this.#answer.isLocal || this.#answer.state.step !== "going_to_service" || !this.#isAway) return
    this.#send("returned")
  }

  /** Whether the state can change without the user. */
  get #isUnderWay() {
    const { step, undo, failure } = this.#answer.state
    return Boolean(FOLLOWED.includes(step) || undo || step === "email" && failure)
  }

  /** Follows the server's changes while the page is visible. */
  #follow() {
    if (document.hidden || this.#isPreview || this.#isForeign || this.#answer.isLocal) return this.#unfollow()
    const isCrowded = [...ALIVE].filter(button => button.#following).length >= RESTING_STREAMS
    if (this.#following || isCrowded && !this.#isUnderWay) return
    const { signal } = this.#following = new AbortController()
    const changes = new EventSource(this.#url("/changes", { page: PAGE }))
    signal.addEventListener("abort", () => changes.close())
    changes.onmessage = event => {
      if (event.data.length > MOST_BYTES) return
      let answer = null
      try { answer = readAnswer(JSON.parse(event.data)) } catch { return }
      if (answer) this.#hear(answer)
    }
    changes.onerror = () => {
      changes.close()
      if (!signal.aborted) this.#poll(signal)
    }
  }

  /** Handles an answer of the stream or of another button. */
  #hear(answer) {
    if (this.#sending) this.#heard = answer
    else if (age(answer, this.#answer) > 0) this.#show({ ...answer, open: null })
  }

  async #poll(signal) {
    const until = performance.now() + FOLLOW_FOR
    const pauses = this.#isUnderWay ? [250, 500, 1000, ...POLL_AFTER] : POLL_AFTER
    for (let round = 0; !signal.aborted && performance.now() < until && (round < RESTING_LOOKS || this.#isUnderWay); round += 1) {
      await this.#pause(pauses[Math.min(round, pauses.length - 1)], signal)
      if (!signal.aborted) await this.#load(true)
    }
    if (!signal.aborted) this.#unfollow()
  }

  /** Polls temporary states: the notice of a refused address, and what the server could not load (2.5). */
  #lookLater(before) {
    const { isLocal, state, face } = this.#answer
    const isRefused = state.step === "email" && state.failure
    if (isRefused && before?.state.failure && age(this.#answer, before) === 0 && state.refusals === before.state.refusals) return
    clearTimeout(this.#later)
    const isFailed = state.step === "loading_failed"
    if (!isFailed && state.step !== "loading") this.#loads = 0
    if (isLocal) return
    const plan = (milliseconds, body) => { this.#later = setTimeout(() => { if (!document.hidden) body() }, milliseconds) }
    if (isRefused) plan(NOTICE_OVER, () => this.#load(true))
    else if (isFailed && this.#loads < RETRY_AFTER.length && offers(face, "retry")) {
      plan(RETRY_AFTER[this.#loads], () => this.#send("retry"))
      this.#loads += 1
    }
  }

  #unfollow() {
    this.#following?.abort()
    this.#following = null
  }

  // MARK: User actions

  /** The element that shows a press (F061): the pill while it can be tapped, and each button in it and under it. */
  #pressable(target) {
    const { pill } = this.#part
    return target.closest("form button, .choices button, .footer button")
      ?? (pill.contains(target) && TAPPED.includes(this.#input) && !this.#sending ? pill : null)
  }

  /** Shows a touch as pressed after a moment, so that scrolling takes precedence. */
  #pressed(event) {
    this.#settle()
    this.#swiped = false
    const target = event.isPrimary && event.button === 0 ? this.#pressable(event.target) : null
    if (!target) return
    const timer = setTimeout(() => target.classList.add("pressed"), M.pressDelay * 1000)
    this.#press = { target, x: event.clientX, y: event.clientY, timer }
  }

  /** A lifted finger ends the pressed state; the next event decides whether it was a tap. */
  #relax() {
    if (!this.#press) return
    clearTimeout(this.#press.timer)
    Object.assign(this.#press, { isOver: true, timer: setTimeout(() => this.#settle(), M.press * 1000) })
  }

  /** Ends a press. A quick tap flashes. */
  #settle(tapped = null) {
    const { target, timer, isKept } = this.#press ?? {}
    clearTimeout(timer)
    const isFelt = tapped && tapped === target && target.classList.contains("pressed")
    target?.classList.remove("pressed", "flashes")
    this.#press = null
    if (isKept && this.#answer) this.#drawFooter(this.#answer.state, this.#answer.face, this.#isStill ? 0 : M.change)
    if (!tapped || isFelt) return
    tapped.classList.add("pressed", "flashes")
    this.#press = { target: tapped }
    this.#relax()
  }

  #tapped(event) {
    const input = this.#input
    if (event.detail > 1 || !TAPPED.includes(input)) return
    if (input === "set_up") this.#setUp()
    else this.#act(input)
  }

  /** The page itself configures a pending connection (W15). */
  #setUp() {
    const goesOn = this.dispatchEvent(new CustomEvent("setup", { cancelable: true, bubbles: true, composed: true }))
    const { setUpURL, manageURL } = this.#answer.state
    const page = setUpURL ?? manageURL
    if (goesOn && page) location.assign(page)
  }

  #act(kind) {
    if (kind === "about") return this.#tapFooter()
    if (kind === "disconnect" && this.#look.input !== "choice") return this.#send("turn_off")
    if (kind === "cancel" && !this.#isWaiting && !offers(this.#answer.face, "cancel")) return
    if (kind === "retry") this.#loads = 0
    if (kind === "retry" && this.#unsent) return this.#send(...this.#unsent)
    if (kind === "retry" && this.#answer.isLocal) return this.#load()
    this.#send(kind)
  }

  /** The finger's position: the distance from the pill's left edge and the pill's width. */
  #place(event) {
    const box = this.#part.pill.getBoundingClientRect()
    return [event.clientX - box.left, box.width]
  }

  /** A finger on the switch may start a drag. */
  #grasped(event) {
    const { input, isOn, knob } = this.#look
    this.#drag = null
    this.#pointerType = event.pointerType
    if (!event.isPrimary || event.button !== 0 || this.#sending || knob === "hidden" || input !== "turn_on" && input !== "turn_off") return
    const [x, width] = this.#place(event)
    const { pill, knob: { offsetWidth } } = this.#part
    // On a zoomed or scaled page, the finger and the elements have different units.
    const scale = width / pill.offsetWidth
    const fromKnob = isOn !== this.#isRightToLeft ? width - x : x
    if (pill.classList.contains("celebrates") || fromKnob > (G.height + M.slop) * scale * offsetWidth / G.knobDiameter) return
    const way = width - scale * (offsetWidth + 2 * G.knobInset * this.#unit)
    this.#drag = { id: event.pointerId, x: event.clientX, y: event.clientY, grip: x, way, isOn, active: false, samples: [] }
  }

  /** The size of one of the dossier's points. */
  get #unit() { return parseFloat(getComputedStyle(this.#part.pill).borderTopLeftRadius) / G.cornerRadius || 1 }

  #moved(event) {
    const drag = this.#drag
    if (!drag || event.pointerId !== drag.id) return
    const [dx, dy] = [Math.abs(event.clientX - drag.x), Math.abs(event.clientY - drag.y)]
    if (!drag.active && dx > M.slop && dx > dy) this.#begin(drag, event)
    if (!drag.active) return
    const [x, width] = this.#place(event)
    Object.assign(drag, { at: x, width })
    drag.samples = [...drag.samples.filter(sample => event.timeStamp - sample.time < 100), { time: event.timeStamp, x }]
    drag.frame ??= requestAnimationFrame(() => {
      drag.frame = null
      if (drag.active) this.#scrub(drag.part = dragged(drag.at, drag.grip, drag.way, drag.isOn, drag.isRightToLeft))
    })
  }

  #begin(drag, event) {
    drag.active = true
    drag.isRightToLeft = this.#isRightToLeft
    this.#part.pill.setPointerCapture(event.pointerId)
    this.#startScrubbing(drag)
  }

  #lifted(event, isCancelled = false) {
    const drag = this.#drag
    if (!drag || event.pointerId !== drag.id) return
    this.#drag = null
    if (!drag.active) return
    drag.active = false
    cancelAnimationFrame(drag.frame)
    const [first, last] = [drag.samples[0], drag.samples.at(-1)]
    const isFresh = last && event.timeStamp - last.time < 100 && last.time > first.time
    const speed = isFresh ? (last.x - first.x) / (last.time - first.time) * 1000 / drag.width : 0
    const velocity = drag.isOn !== drag.isRightToLeft ? -speed : speed
    const part = last ? dragged(last.x, drag.grip, drag.way, drag.isOn, drag.isRightToLeft) : 0
    const goesOn = !isCancelled && completes(drag.isOn, part, velocity)
    this.#released = { name: drag.name, part }
    this.#spring(goesOn ? 1 : 0, velocity * drag.width / drag.way)
    if (goesOn) this.#send(drag.isOn ? "turn_off" : "turn_on")
  }

  // MARK: Motion

  /** The present value of each channel, as CSS. */
  #pose() {
    return Object.fromEntries(Object.entries(CHANNELS).map(([channel, [part, property]]) => [channel, property && getComputedStyle(this.#part[part])[property]]))
  }

  /** Animates one track; `first` is the value that it starts from instead of its own. */
  #track([channel, from, to, begin, end, name], options = {}, first = null) {
    const [part, property, css = value => value] = CHANNELS[channel]
    const isTurned = this.#isRightToLeft
    const frames = property ? { [property]: [first ?? css(from, isTurned), css(to, isTurned)] } : curl()
    return this.#part[part].animate(frames, { delay: begin * 1000, duration: (end - begin) * 1000, easing: CURVES[name], fill: property ? "both" : "none", id: channel, ...options })
  }

  /** Moves each channel from what it was to its rest: along a timeline where it has a track, and with a fade where it has not. */
  #move(before, { tracks: all = [] } = {}, left = []) {
    const tracks = all.filter(([channel]) => CHANNELS[channel])
    const running = this.#moves
    const moves = this.#moves = new Map([...running].filter(([channel]) => DRAWING.includes(channel)))
    for (const [channel, animations] of running) if (!moves.has(channel)) for (const animation of animations) animation.cancel()
    const rest = this.#pose()
    this.#part.pill.classList.add("moves")
    for (const channel of Object.keys(CHANNELS)) {
      if (left.includes(channel)) continue
      const own = tracks.filter(track => track[0] === channel)
      // What is seen, and what is in the middle of a movement, goes on from where it is. The knob and the check mark appear where they were not.
      const isSeen = SEEN[channel] ? before[SEEN[channel]] !== "0" : channel !== "knob" && channel !== "mark" && !DRAWING.includes(channel)
      const first = running.has(channel) || isSeen ? before[channel] : null
      if (own.length) moves.set(channel, own.map((track, at) => at ? this.#track(track, { fill: "forwards" }) : this.#track(track, {}, first)))
      else if (before[channel] !== rest[channel] && !DRAWING.includes(channel) && before[SEEN[channel]] !== "0") {
        const [part, property] = CHANNELS[channel]
        moves.set(channel, [this.#part[part].animate({ [property]: [before[channel], rest[channel]] }, { duration: M.change * 1000, easing: EASE, fill: "both", id: channel })])
      }
    }
    const place = tracks.findLast(([channel]) => channel === "knobPlace")
    if (place) this.#placeKnob(place[2])
    const end = animation => animation.effect.getComputedTiming().endTime
    const last = [...moves.values()].flat().sort((one, other) => end(other) - end(one))[0]
    if (last) last.finished.then(() => { if (this.#moves === moves) this.#stand(true) }, () => {})
    else this.#stand(true)
  }

  /** Ends what moves: each channel is at its rest. Texts that fade may go on. */
  #stand(isFading = false) {
    for (const animation of [...this.#moves.values()].flat()) animation.cancel()
    this.#moves = new Map()
    if (!isFading) for (const old of [this.#part.leaving, this.#part.oldLines]) old?.remove()
    this.#part.pill.classList.remove("celebrates", "moves")
    if (this.#look.input !== "choice") this.#clearChoices()
  }

  /** 0 is the start, 1 the end. */
  #placeKnob(part) { this.#part.pill.style.setProperty("--place", part) }

  #startScrubbing(drag) {
    const { body, label } = this.#part
    const { state, face } = this.#answer
    drag.name = dragging(state.step, state.next ?? (drag.isOn ? "confirm_disconnect" : "verifying"))
    const isEmail = drag.name === "email"
    if (isEmail) this.#suggest()
    body.classList.add("scrubbed")
    this.#part.coming?.remove()
    this.#part.coming = h("span", { class: "coming", "aria-hidden": "true" }, isEmail ? "" : face.toggled)
    label.after(this.#part.coming)
    this.#hold(drag.name, label, this.#part.coming)
    this.#scrub(0)
  }

  /** Makes the paused animations of a timeline, linear in the finger's fraction; what begins after its duration takes no part. */
  #hold(name, old, now) {
    const { duration, tracks } = TOKENS.timelines[name]
    for (const animation of this.#part.held ?? []) animation.cancel()
    const seen = new Set()
    const own = tracks.filter(([channel, , , begin]) => begin < duration && !seen.has(channel) && seen.add(channel))
    const fade = (element, opacity, delay) =>
      element.animate({ opacity }, { delay: delay * 1000, duration: (duration - delay) * 1000, fill: "both", id: "label" })
    this.#part.held = [...own.map(track => this.#track(track, { easing: "linear" })), fade(old, [1, 0], 0), fade(now, [0, 1], duration / 2)]
    for (const animation of this.#part.held) animation.pause()
  }

  /** Draws a part of the change under a finger, with transforms and opacities; towards the email field also with a corner. */
  #scrub(part) {
    const time = part * TOKENS.timelines[this.#drag?.name ?? this.#released.name].duration * 1000
    for (const animation of this.#part.held ?? []) animation.currentTime = time
  }

  /** Lets the knob go on to an end. */
  #spring(target, velocity) {
    const released = this.#released
    const { part: from, name } = released
    const { duration } = TOKENS.timelines[name]
    const began = performance.now()
    released.target = target
    released.isOver = false
    const turn = released.turn = {}
    const step = now => {
      if (this.#released !== released || released.turn !== turn) return
      const time = this.#isStill ? duration : Math.max(0, now - began) / 1000
      this.#scrub(released.part = sprung(from, target, velocity, duration, time))
      if (time < duration) return void requestAnimationFrame(step)
      released.isOver = true
      if (target === 0 || released.isAnswered) this.#stopScrubbing()
      else if (!this.#sending) this.#spring(0, 0)  // No answer is going to end it.
    }
    requestAnimationFrame(step)
  }

  /** Whether the released knob leads to a step: then its spring completes the change. */
  #leadsTo(before, step) {
    const released = this.#released
    if (!released || released.isAnswered) return Boolean(released && before.state.step === step)
    return released.target === 1 && before.state.step !== step && dragging(before.state.step, step) === released.name
  }

  #stopScrubbing() {
    const { body, coming, held } = this.#part
    this.#released = null
    coming?.remove()
    for (const animation of held ?? []) animation.cancel()
    this.#part.coming = this.#part.held = null
    if (this.#look.input !== "email") this.#emptyField()
    body.classList.remove("scrubbed")
  }

  /** Returns to the drawn state, when an answer brought nothing new. */
  #settleBack() {
    const { state, face } = this.#answer
    this.#drawPill(this.#look, state, face)
    this.#drawFooter(state, face)
    this.#drawProgress(state.progress)
    if (this.#released && !this.#released.isAnswered && !this.#drag?.active) this.#spring(0, 0)
  }

  // MARK: Showing an answer

  /** The component's own states: loading, and server unreachable. */
  #showLocally(step, error) {
    const preferred = [this.getAttribute("locale"), ...navigator.languages]
    const locale = this.#answer?.locale ?? preferred.filter(Boolean).map(matchingLocale).find(Boolean) ?? "en-US"
    const say = name => carried(name, locale)
    const mark = text => text.split(/(IFTTT)/).filter(Boolean).map(piece => ({ text: piece, style: piece === "IFTTT" ? "mark" : "plain" }))
    const kind = error && (WORD_NAMES.includes(error.kind) ? error.kind : "unavailable")
    const last = this.#answer && step !== "loading" && step !== "loading_failed" ? this.#answer : readAnswer({ state: { step: "loading" }, locale,
      face: { label: say(step === "loading" ? "loading" : "connect_any"), name: say(step === "loading" ? "loading" : "connect_any"),
              footer: mark(say("works_with")), tone: "lead" } })
    const answer = { ...last, isLocal: true, open: null, state: { ...last.state, step } }
    if (kind) {
      answer.state.failure = { kind, detail: error.status ? `HTTP ${error.status}` : String(error.cause ?? error.message) }
      const actions = FINAL.includes(kind) ? [] : [{ kind: "retry", title: say("try_again") }]
      answer.face = { ...last.face, footer: mark(say(kind)), tone: "error", announcement: say(kind),
                      actions: [...actions, ...last.face.actions.filter(action => action.kind !== "retry")] }
    }
    this.#show(answer)
  }

  #show(answer) {
    const before = this.#answer
    if (this.#drag?.active) {
      // A change during a drag ends the drag, because its state is gone.
      if (before?.state.step === answer.state.step) return void (this.#answer = answer)
      this.#part.pill.releasePointerCapture?.(this.#drag.id)
      this.#drag = null
    }
    if (!answer.isLocal) this.#unsent = null
    this.#answer = answer
    const { state, face } = answer
    const look = TOKENS.looks[state.step]
    const inside = this.#root.activeElement
    const isLoad = !before || before.state.step === "loading"
    // What is drawn first, and what changes with reduced motion, is complete immediately.
    const isBack = this.#comesBack()
    const isMoving = (before || isBack) && !this.#isStill
    const [pose, old, barColor] = [this.#pose(), this.#labelNow(), getComputedStyle(this.#part.bar).backgroundColor]
    this.#set("hidden", state.step === "hidden")
    this.#set("on", look.isOn)
    this.#set("busy", state.progress !== "none" && state.progress !== 1)
    this.#part.body.lang = answer.locale
    this.#part.body.dir = this.#isRightToLeft ? "rtl" : "ltr"
    this.#dress(state)
    this.#drawPill(look, state, face)
    const name = between(isBack ? "going_to_service" : before?.state.step ?? state.step, state.step)
    const isContinued = this.#leadsTo(before, state.step)
    if (!isContinued && this.#part.held) this.#stopScrubbing()
    const isChanged = isBack || before?.state.step !== state.step
    this.#drawLabel(look.input === "email" || look.input === "choice" ? "" : face.label, isMoving && !isContinued && name, old)
    this.#drawEmail(state, face, before)
    this.#drawChoices(face)
    this.#drawFooter(state, face, isMoving && (name === "email" ? M.emailMorph : M.change))
    this.#drawProgress(state.progress, state.undo, pose.bar !== "0", barColor)
    if (isContinued) this.#answerDrag(pose, old)
    else if (isMoving && isChanged) {
      this.#move(pose, TOKENS.timelines[name])
      this.#part.pill.classList.toggle("celebrates", name === "arriving")
    } else if (!isMoving) this.#stand()
    this.#keepFocus(inside, look, before)
    // Finding the same state again is no change.
    if (isLoad || answer.isLocal || before.isLocal || answer.revision !== before.revision) this.#announce(face, state, isLoad && !isBack)
    this.#tell(before, state, look, isBack)
    if (!this.isConnected) return
    if (this.#isPreview) return this.#unfollow()
    this.#follow()
    this.#lookLater(before)
    this.#countShown()
    if (answer.isLocal) return
    this.#goOn(answer)
    this.#returnEarly()
    for (const twin of ALIVE) if (!twin.#isPreview && twin.#answer && twin.#url() === this.#url()) twin.#hear(answer)
  }

  /** What a released knob leads to is shown: its texts take the places of those that were drawn on the way. */
  #answerDrag(pose, old) {
    const { label, coming } = this.#part
    const released = this.#released
    const { duration, tracks } = TOKENS.timelines[released.name]
    if (!released.isAnswered) {
      coming.textContent = old.text
      Object.assign(coming.style, old.style)
      this.#hold(released.name, coming, label)
      this.#scrub(released.part)
      const place = tracks.findLast(([channel]) => channel === "knobPlace")
      this.#placeKnob(place[2])
      this.#move(pose, undefined, tracks.filter(track => track[3] < duration).map(([channel]) => channel))
    }
    released.isAnswered = true
    if (released.isOver) this.#stopScrubbing()
  }

  #set(name, isSet) {
    // Custom states are newer than the other features that this file uses.
    try { this.#internals.states[isSet ? "add" : "delete"](name) } catch { if (name === "hidden") this.hidden = isSet }
  }

  #dress({ connection }) {
    const { body, knob } = this.#part
    const service = connection?.connecting
    const [light, dark] = ["light", "dark"].map(scheme => palette(service?.brand ?? "#0099FF", scheme))
    const set = (name, value) => body.style.setProperty(name, value)
    set("--brand", light.ground)
    set("--brand-ink", light.ink)
    set("--brand-progress", light.progress)
    set("--confirm-ink", light.confirmInk)
    set("--confirm-pressed", light.confirmPressed)
    for (const [scheme, colors] of [["light", light], ["dark", dark]]) {
      set(`--knob-${scheme}`, colors.knob)
      set(`--knob-ink-${scheme}`, colors.knobInk)
      set(`--edge-${scheme}`, contrast(color(colors.knob), WHITE) < 3 ? "rgb(0 0 0 / .8)" : "transparent")
    }
    const key = JSON.stringify([service?.icon, service?.shortName])
    if (knob.dataset.key === key) return
    knob.dataset.key = key
    this.#iconTried = 0
    this.#drawIcon(service)
    if (connection?.primary.icon) new Image().src = connection.primary.icon  // For the About page.
  }

  /** The icon; until it is loaded, or if it fails, the service's first letter in the knob's ink (W30). */
  #drawIcon(service) {
    const { knob } = this.#part
    this.#part.icon.replaceChildren([...(service?.shortName ?? "")][0]?.toLocaleUpperCase() ?? "")
    if (!service?.icon) return
    const icon = h("img", { alt: "", decoding: "async", draggable: "false", referrerpolicy: "no-referrer" })
    const { key } = knob.dataset
    icon.addEventListener("load", () => {
      if (knob.dataset.key === key) this.#part.icon.replaceChildren(icon)
    })
    icon.addEventListener("error", () => {
      if (knob.dataset.key === key && (this.#iconTried += 1) <= 2 && this.isConnected) {
        setTimeout(() => { if (knob.dataset.key === key) this.#drawIcon(service) }, ICON_AFTER * this.#iconTried)
      }
    })
    icon.src = service.icon
  }

  #drawPill(look, state, face) {
    const { pill, switch: control, form, choices } = this.#part
    const input = this.#input
    Object.assign(pill.dataset, { ground: look.ground, knob: look.knob, input, step: state.step })
    // A hidden knob stays where it is.
    if (look.knob !== "hidden") this.#placeKnob(look.knob === "end" ? 1 : 0)
    pill.classList.toggle("pulses", look.pulses || this.#isWaiting)
    const isSwitch = !["proceed", "set_up", "retry"].includes(input)
    const isIdle = input === "none"
    form.ariaBusy = choices.ariaBusy = this.#isWaiting || null
    // They stay visible while they fade.
    control.inert = look.input === "email" || look.input === "choice"
    form.inert = look.input !== "email"
    choices.inert = look.input !== "choice"
    const attributes = { "aria-label": face.name || face.label, role: isSwitch ? "switch" : null, "aria-checked": isSwitch ? String(look.isOn) : null,
                         "aria-disabled": isIdle ? "true" : null, "aria-busy": isIdle && state.progress !== "none" || look.pulses || this.#isWaiting ? "true" : null }
    for (const [name, value] of Object.entries(attributes)) value === null ? control.removeAttribute(name) : control.setAttribute(name, value)
  }

  /** The present label: the leaving one keeps its place, size and colour. */
  #labelNow() {
    const { label, switch: control } = this.#part
    const { color, paddingInline, fontSize, opacity } = getComputedStyle(label)
    return { text: label.textContent, wraps: control.classList.contains("wraps"), style: { color, paddingInline, fontSize }, opacity: Number(opacity) }
  }

  /** The old text fades out, the new one in from half time, unless a timeline says it otherwise. Unchanged text stays; `name` is false for a change without animation. */
  #drawLabel(text, name, old) {
    const { label } = this.#part
    if (text === this.#label) return
    this.#label = text
    label.textContent = text
    this.#fit()
    this.#part.leaving?.remove()
    for (const animation of label.getAnimations()) if (animation.id === "label") animation.cancel()
    if (name === false || this.#isStill) return
    const { duration, tracks } = TOKENS.timelines[name] ?? {}
    const seconds = name === "email" ? duration : M.change
    const leaving = this.#part.leaving = h("span", { "aria-hidden": "true" }, old.text)
    Object.assign(leaving.style, old.style, { whiteSpace: old.wraps ? "normal" : "nowrap" })
    label.after(leaving)
    leaving.animate({ opacity: [old.opacity, 0] }, { duration: seconds * 1000, easing: EASE, fill: "both" }).finished.then(() => leaving.remove(), () => leaving.remove())
    const [, , , begin, end] = tracks?.find(([channel]) => channel === "label") ?? [, , , seconds / 2, seconds]
    label.animate({ opacity: [0, 1] }, { id: "label", delay: begin * 1000, duration: (end - begin) * 1000, easing: EASE, fill: "backwards" })
  }

  /** A long label shrinks a little, and then wraps (F056, W3). */
  #fit() {
    const { label, switch: control } = this.#part
    const { classList, style } = control
    classList.remove("wraps")
    style.removeProperty("--fit")
    const text = document.createRange()
    text.selectNodeContents(label)
    // On a zoomed or scaled page, boxes and elements have different units.
    const wanted = text.getBoundingClientRect().width * label.offsetWidth / (label.getBoundingClientRect().width || 1)
    const { paddingLeft, paddingRight } = getComputedStyle(label)
    const room = label.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
    if (wanted > room && room > 0) {
      const least = T.labelMinimum / T.label
      const fit = Math.max(least, room / (wanted + 1))
      style.setProperty("--fit", fit.toFixed(3))
      classList.toggle("wraps", fit === least)
    }
  }

  #suggest() {
    const { field } = this.#part
    const text = this.#answer.state.email || (this.getAttribute("email") ?? "").trim().slice(0, 254)
    if (!this.#typed && field.value !== text) field.value = text
  }

  #emptyField() {
    this.#typed = false
    this.#part.field.value = ""
  }

  /** The user's text is kept; back at Connect the field is emptied. */
  #drawEmail(state, face, before) {
    const { field, confirm, pill } = this.#part
    field.setAttribute("aria-label", face.emailField)
    field.placeholder = face.emailField
    confirm.setAttribute("aria-label", face.emailConfirm)
    if (this.#look.knob !== "hidden" && !this.#released) this.#emptyField()
    if (state.step !== "email") return
    this.#suggest()
    const isInvalid = state.failure?.kind === "invalid_email"
    field.toggleAttribute("aria-invalid", isInvalid)
    if (isInvalid) field.setAttribute("aria-invalid", "true")
    const isNews = state.refusals === null ? before?.revision !== this.#answer.revision : state.refusals > before?.state.refusals
    if (!isInvalid || before?.state.step !== "email" || !isNews || this.#isStill) return
    const count = Math.round(M.shakeEnd * 60)
    const frames = Array.from({ length: count + 1 }, (_, at) => ({ translate: `${at < count ? shaken(at / 60) : 0}px`, easing: "linear" }))
      .filter((_, at) => at === 0 || at / 60 >= M.shakeOut)
    frames.forEach((frame, at) => { frame.offset = at && (M.shakeOut * 60 + at - 1) / count })
    pill.animate([{ translate: "0px", offset: 0, easing: EASE }, ...frames.slice(1)], { duration: M.shakeEnd * 1000, id: "shake" })
  }

  #button(action, className) {
    const button = h("button", { type: "button", class: className, "data-action": action.kind }, action.title)
    if (action.kind === "about") button.setAttribute("aria-haspopup", "dialog")
    button.addEventListener("click", event => { if (event.detail <= 1) this.#act(action.kind) })
    return button
  }

  #drawChoices(face) {
    const { choices } = this.#part
    choices.setAttribute("aria-label", face.label)
    const key = JSON.stringify(face.choices)
    // They stay while they fade.
    if (choices.dataset.key === key || face.choices.length === 0) return
    choices.dataset.key = key
    choices.replaceChildren(...face.choices.map(choice => this.#button(choice)))
  }

  #clearChoices() {
    const { choices } = this.#part
    choices.replaceChildren()
    choices.dataset.key = ""
  }

  #runs(runs, links = {}) {
    return runs.map(run => {
      if (run.style === "link" && links.href) return h("a", links, run.text)
      return run.style === "plain" ? document.createTextNode(run.text) : h("span", { class: run.style }, run.text)
    })
  }

  #drawFooter(state, face, seconds = 0) {
    const { footer, lines: old } = this.#part
    const actions = this.#isWaiting && !offers(face, "cancel")
      ? [...face.actions.filter(action => action.kind !== "retry"), { kind: "cancel", title: carried("cancel", this.#answer.locale) }] : face.actions
    const key = JSON.stringify([face.footer, face.tone, actions, Boolean(face.about)])
    if (footer.dataset.key === key) return
    // What is pressed stays until it is let go: a browser sends no click to what took its place.
    if (this.#press && !this.#press.isOver && old?.contains(this.#press.target)) return void (this.#press.isKept = true)
    footer.dataset.key = key
    // What leaves keeps the colour that it had.
    const { opacity, color } = old ? getComputedStyle(old) : {}
    footer.dataset.tone = face.tone
    footer.toggleAttribute("data-needed", face.tone === "error" || actions.length > 0)
    const opensAbout = face.tone === "lead" && face.about
    const text = h(opensAbout ? "button" : "p", opensAbout ? { class: "text lead", type: "button", "aria-haspopup": "dialog" } : { class: `text ${face.tone}` },
      ...this.#runs(face.footer))
    if (opensAbout) text.addEventListener("click", () => this.#tapFooter())
    this.#part.oldLines?.remove()
    const lines = this.#part.lines = h("div", { class: "lines" }, text, ...actions.flatMap(action => [" ", this.#button(action, "action")]))
    // With another action, there is room for a sign only, in two lines that do not move the page.
    const more = state.step !== "email" && actions.length > 1 && lines.querySelector("[data-action=about]")
    if (more) {
      more.setAttribute("aria-label", more.textContent)
      more.replaceChildren(drawing(...INFORMATION))
    }
    footer.replaceChildren(lines)
    // A text that stays does not fade.
    if (!old || !seconds || old.textContent === lines.textContent) return
    const [leaving, half] = [this.#part.oldLines = old, seconds * 500]
    leaving.className = "leaving"
    Object.assign(leaving, { inert: true, ariaHidden: "true" }).style.color = color
    footer.append(leaving)
    leaving.animate({ opacity: [opacity, 0] }, { duration: 2 * half, easing: EASE, fill: "both" }).finished.then(() => leaving.remove(), () => {})
    lines.animate({ opacity: [0, 1] }, { duration: half, delay: half, easing: EASE, fill: "backwards" })
  }

  /** The part of the pill that the bar covers now. */
  get #filled() {
    const { from = 0, to = 0, animation } = this.#part.filling ?? {}
    return from + (to - from) * (animation?.effect.getComputedTiming().progress ?? 1)
  }

  #drawProgress(progress, undo = null, wasShown = true, color = "") {
    const { bar } = this.#part
    const isKnown = Number.isFinite(progress)
    const isWaiting = progress === "indeterminate"
    const isShown = isKnown || isWaiting || Boolean(undo)
    const attributes = { role: isKnown || isWaiting ? "progressbar" : null, "aria-label": isKnown || isWaiting ? this.#answer.face.label : null,
                         "aria-valuenow": isKnown ? Math.round(progress * 100) : null }
    for (const [name, value] of Object.entries(attributes)) value === null ? bar.removeAttribute(name) : bar.setAttribute(name, value)
    bar.classList.toggle("shown", isShown)
    bar.classList.toggle("waits", isWaiting)
    this.#part.tint?.cancel()
    // What fades keeps its length and its colour. What stays becomes of the ground's colour between the old text and the new one (MO17).
    bar.style.background = isShown ? "" : color
    if (!isShown) return
    const tint = getComputedStyle(bar).backgroundColor
    if (wasShown && color && color !== tint && !this.#isStill)
      this.#part.tint = bar.animate({ backgroundColor: [color, color, tint, tint], offset: [0, .15, .85, 1] }, { duration: M.change * 1000, easing: EASE, id: "tint" })
    const present = wasShown ? this.#filled : 0
    // It grows at its own speed, from the start side, and never shrinks but for a countdown.
    const [from, to, seconds] = undo && !isKnown ? [undo.remaining / undo.total, 0, undo.remaining]
      : [present, Math.max(present, isKnown ? progress : this.#look.fill ?? 0.5)].flatMap((value, at, both) => at ? [value, (value - both[0]) * M.progress] : [value])
    this.#part.filling?.animation?.cancel()
    const end = this.#isStill && undo ? from : to
    const place = part => `calc((${part} - 1) * var(--turn) * 100%)`
    bar.style.setProperty("--fill", end)
    this.#part.filling = { from, to: end, animation: this.#isStill || seconds === 0 ? null : bar.animate({ translate: [place(from), place(to)] }, { duration: seconds * 1000, id: "fill" }) }
  }

  /** The focus stays inside, on the element that replaced the focused one. */
  #keepFocus(inside, look, before) {
    const { switch: control, field, choices, about } = this.#part
    if (!before || about?.open) return
    const changed = before.state.step !== this.#answer.state.step
    const target = { email: field, choice: choices.lastElementChild }[look.input] ?? control
    const isLost = inside && (!inside.isConnected || inside.closest("[inert], [hidden]"))
    const follows = inside && changed && (look.input === "email" || look.input === "choice")
    // A prefilled field does not raise the keyboard on a touch screen (4.5).
    if (follows && target === field && field.value && this.#pointerType === "touch") return
    if (isLost || follows) target?.focus({ preventScroll: true })
  }

  #announce(face, state, isFirst) {
    const { status } = this.#part
    const text = isFirst && !state.failure ? "" : face.announcement || (isFirst ? "" : face.name)
    if (status.textContent !== text) status.textContent = text
  }

  #tell(before, state, look, isBack) {
    const tell = (name, detail, bubbles = true) => this.dispatchEvent(new CustomEvent(name, { bubbles, composed: bubbles, detail }))
    const [connection, was] = [this.getAttribute("connection") ?? "", isBack ? false : this.#isOn]
    if (look.isOn) this.#isOn = true
    else if (state.step === "connect" || state.step === "disconnected") this.#isOn = false
    const isOver = before?.state.failure && !state.failure
    if (before?.state.step !== state.step || isOver) tell("change", { step: state.step, isOn: look.isOn }, false)
    if (was === false && this.#isOn) tell("connected", { connection, isPending: state.step === "pending" })
    if (was && !this.#isOn && !state.failure) tell("disconnected", { connection })
    const isNews = state.refusals > before?.state.refusals || JSON.stringify(before?.state.failure) !== JSON.stringify(state.failure)
    if (state.failure && isNews) {
      const during = state.step === "loading_failed" ? "loading" : was || look.isOn ? "deactivation" : "activation"
      tell("failed", { connection, ...state.failure, during })
    }
  }

  // MARK: About (4.9)

  #tapFooter() {
    this.#count("footer_tapped")
    this.#openAbout()
  }

  #openAbout() {
    const { state, face } = this.#answer
    if (!face.about || !state.connection) return
    this.#part.about?.remove()
    const { connection } = state
    const outside = (href, item) => ({ href, target: "_blank", rel: "noopener noreferrer", "data-item": item })
    const close = h("button", { class: "close", type: "button", "aria-label": face.about.close }, drawing(...CROSS))
    const icon = (service, item) => {
      const picture = service.icon ? h("img", { src: service.icon, alt: "", referrerpolicy: "no-referrer" }) : null
      const letter = [...service.shortName][0] ?? ""
      picture?.addEventListener("error", () => picture.replaceWith(letter))
      return h(service.url ? "a" : "span", { ...service.url ? outside(service.url, item) : { role: "img" }, "aria-label": service.name || service.shortName }, picture ?? letter)
    }
    const title = this.#runs(face.about.title)
    const sheet = h("div", { class: "sheet" }, close,
      h("div", { class: "pair" }, icon(connection.primary, "primary"), drawing(...ARROW), icon(connection.connecting, "connecting")),
      h("h2", { id: "about-title" }, ...connection.url ? [h("a", outside(connection.url, "title"), ...title)] : title),
      h("ul", { role: "list" }, ...face.about.benefits.map((text, at) => h("li", {}, drawing([24, 24], stroke(BENEFITS[at])), h("span", {}, text)))),
      state.manageURL && this.#look.isOn ? h("a", { class: "pillow", ...outside(state.manageURL, "manage") }, face.about.manage) : null,
      state.storeURL ? h("a", { class: "pillow store", ...outside(state.storeURL, "") }, face.about.store) : null,
      h("p", { class: "legal" }, ...this.#runs(face.about.legal, outside(state.termsURL, "legal"))))
    const about = this.#part.about = h("dialog", { class: "about", part: "about", "aria-labelledby": "about-title" }, sheet)
    close.addEventListener("click", () => about.close())
    about.addEventListener("click", event => {
      if (event.target === about) about.close()
      const item = event.target.closest("[data-item]")?.dataset.item
      if (item) this.#count("about_tapped", item)
    })
    about.addEventListener("close", () => about.remove())
    this.#part.body.append(about)
    about.showModal()
    this.#count("about_shown")
  }
}

if (!customElements.get("connect-button")) customElements.define("connect-button", ConnectButton)
