'use strict'

const $ = (id) => document.getElementById(id)
const place = 'nearby-token'
const faces = new Map()
let token = sessionStorage.getItem(place)
let state = null
/** When something came from Handshake last. */
let heard = null
let said = 0
/** What runs when alerts are shown again. */
let loud
/** The circles whose members or settings are shown, with what is shown before the address. */
const unfolded = new Set()

/** An element with text and children; what comes from the air or from a service is text, never markup. */
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children.filter((child) => child !== null && child !== ''))
  return made
}

function say(text) { $('said').textContent = text }

async function ask(path, options = {}) {
  return fetch(path, { ...options, cache: 'no-store', headers: { ...options.headers, Authorization: `Bearer ${token}` } })
}

async function act(request) {
  const answer = await ask('/do', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(request) })
    .catch(() => null)
  if (!answer) return say('Handshake does not answer. Start it again: handshake nearby open')
  const { said: done, failed } = await answer.json().catch(() => ({}))
  say(done ?? failed ?? 'This did not work.')
  return done !== undefined
}

// Who may read: the link's key is exchanged once for a token of this tab.

async function enter() {
  const key = new URLSearchParams(location.search).get('key')
  if (key) {
    history.replaceState(null, '', location.pathname + location.hash)
    const answer = await fetch('/session', {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ key }), cache: 'no-store' }).catch(() => null)
    if (answer?.ok) {
      token = (await answer.json()).token
      sessionStorage.setItem(place, token)
    }
  }
  if (!token) return closed('This link was opened already. Run again: handshake nearby open')
  follow()
}

function closed(text) {
  $('radio').textContent = text
  document.title = 'People nearby: closed'
  for (const control of document.querySelectorAll('main button, main input, main select')) control.disabled = true
}

/** Server-sent events, read by fetch because EventSource cannot say who asks. */
async function follow() {
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    const answer = await ask('/state').catch(() => null)
    if (answer?.status === 401) return closed('This page belongs to an earlier start. Run again: handshake nearby open')
    if (answer?.ok) {
      pause = 500
      await read(answer.body.pipeThrough(new TextDecoderStream()).getReader()).catch(() => null)
    }
    lost()
    await new Promise((done) => setTimeout(done, pause))
  }
}

/** Without a connection the page says of when it is. */
function lost() {
  $('radio').textContent = 'Handshake does not answer.'
  document.title = 'People nearby: no answer'
  if (heard) $('here-title').textContent = `Here at ${clock(heard)}`
}

async function read(reader) {
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    heard = Date.now() / 1000
    const events = (rest + value).split('\n\n')
    rest = events.pop()
    const last = events.filter((event) => event.startsWith('data: ')).pop()
    if (last) show(JSON.parse(last.slice(6)))
  }
}

// What is shown

const nearness = { immediate: 'right here', near: 'a few metres away', far: 'farther away', unknown: '' }
/** How near, in words; the sender of a rough one does not say how strong it sends. */
const near = (proximity, rough) => nearness[proximity] && rough ? `${nearness[proximity]} (rough)` : nearness[proximity]
const moment = (seconds) => new Date(seconds * 1000)
const clock = (seconds) => moment(seconds).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
const length = (seconds) => seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`
const named = (person) => person.name ?? `Number ${person.person}`

/** Whether others can notice the user, and otherwise why not. */
function sent(state, circles) {
  const silent = circles.filter((circle) => circle.silence).map((circle) => circle.circle)
  if (state === 'sending') return silent.length ? `others can notice you, but not in ${silent.join(' and ')}` : 'others can notice you'
  return state === 'silent' ? 'others cannot notice you' : `others cannot notice you: ${state}`
}

/** What others see, by what is sent. */
const modes = {
  rolling: 'Others see an identifier that changes every quarter of an hour.',
  static: 'Others see your number, which never changes: any device can follow you by it.'
}

function show(now) {
  const first = state === null
  const before = state
  state = now
  $('here-title').textContent = 'Here now'
  $('radio').textContent = `Bluetooth: ${now.listen}; ${sent(now.send, now.mode === 'static' ? [] : now.circles)}.`
  keep($('people'), now.people, (person) => person.person, card, before?.people)
  $('empty').hidden = now.people.length > 0
  document.title = now.people.length ? `(${now.people.length}) People nearby` : 'People nearby'
  showTroubles(now.troubles)
  keep($('answers'), now.answers, (wave) => `${wave.person} ${wave.time}`, answer, before?.answers)
  $('waiting').textContent = now.waiting.length ? `Waiting for an answer: ${now.waiting.map(nameOf).join(', ')}.` : ''
  keep($('joined'), now.circles, (circle) => circle.address, circleCard, before?.circles)
  showJoining(now.joining)
  $('sends').checked = now.sends
  $('sent-as').textContent = modes[now.mode] ?? modes.rolling
  showQuiet(now.quiet)
  if (!first && now.said.count > said) say(now.said.text)
  said = now.said.count
  if (first || numbers(before.people) !== numbers(now.people)) showLogSoon()
}

const numbers = (people) => people.map((person) => person.person).sort((one, other) => one - other).join()

/** Until when alerts are silent; the day too where it is another one. Nothing comes from Handshake when the time is over. */
function showQuiet(end) {
  clearTimeout(loud)
  const rest = end === null ? 0 : end * 1000 - Date.now()
  const day = rest > 0 && moment(end).toDateString() !== new Date().toDateString()
    ? `${moment(end).toLocaleDateString([], { weekday: 'long' })}, ` : ''
  $('quiet-until').textContent = rest > 0 ? `No alerts until ${day}${clock(end)}.` : ''
  if (rest > 0) loud = setTimeout(() => showQuiet(state.quiet), rest + 100)
}

/** What a control is called. */
const spoken = (control) => control.getAttribute('aria-label') ?? control.textContent

/** Changes a list to the given entries; what has not changed stays as it is, with the focus in it. */
function keep(list, entries, key, make, before = []) {
  const old = new Map([...list.children].map((child) => [child.dataset.key, child]))
  const were = new Map(before.map((entry) => [String(key(entry)), JSON.stringify(entry)]))
  entries.forEach((entry, index) => {
    const name = String(key(entry))
    let child = old.get(name)
    if (!child || were.get(name) !== JSON.stringify(entry)) {
      const made = make(entry)
      made.dataset.key = name
      const focused = child?.contains(document.activeElement) ? spoken(document.activeElement) : null
      if (child) child.replaceWith(made)
      child = made
      if (focused) [...made.querySelectorAll('button, a, summary, input')].find((control) => spoken(control) === focused)?.focus()
    }
    old.delete(name)
    if (list.children[index] !== child) list.insertBefore(child, list.children[index] ?? null)
  })
  for (const child of old.values()) child.remove()
}

function nameOf(number) {
  const person = state.people.find((one) => one.person === number)
  return person ? named(person) : `number ${number}`
}

function face(person) {
  const initials = named(person).split(/\s+/).map((word) => word[0]).slice(0, 2).join('')
  const shown = element('span', { className: 'face', textContent: initials, ariaHidden: 'true' })
  if (!person.shows_face) return shown
  photo(person).then((url) => {
    if (url) shown.replaceWith(element('img', { className: 'face', src: url, alt: '' }))
  })
  return shown
}

/** The photo that the circle has whose keys recognised the person: others may have another one of the number. */
async function photo({ person, circle }) {
  const key = `${person} ${circle ?? ''}`
  if (!faces.has(key)) {
    faces.set(key, ask(`/photo/${person}${circle ? `?circle=${circle}` : ''}`).then(async (answer) => {
      if (!answer.ok) {
        // It may come with the profile.
        setTimeout(() => faces.delete(key), 5000)
        return null
      }
      return URL.createObjectURL(await answer.blob())
    }).catch(() => {
      faces.delete(key)
      return null
    }))
  }
  return faces.get(key)
}

/** The browser keeps a photo until it is told otherwise. */
function forgetFaces(number) {
  for (const [key, face] of faces) {
    if (number !== undefined && !key.startsWith(`${number} `)) continue
    face.then((url) => url && URL.revokeObjectURL(url))
    faces.delete(key)
  }
}

function card(person) {
  const distance = person.metres !== null && person.metres <= 10 && !person.relayed ? `about ${Math.max(0.5, person.metres)} m` : ''
  const doubts = [person.trust === 'unverified' && 'unverified', person.trust === 'file' && 'by keys from a file', person.suspect && 'its device sends the identifiers of several people',
    person.relayed && 'may be relayed by another device'].filter(Boolean).join('; ')
  const facts = [person.batch, near(person.proximity, person.rough), distance].filter(Boolean).join(', ')
  const name = person.page?.startsWith('http') ? element('a', { href: person.page, target: '_blank', rel: 'noopener noreferrer', textContent: named(person) }) : named(person)
  const controls = element('p', {})
  if (person.trust !== 'unverified') controls.append(button('Wave', named(person), () => wave(person)))
  controls.append(button('Forget', named(person), () => forget(person)))
  return element('li', { className: person.trust === 'unverified' || person.suspect || person.relayed ? 'card doubtful' : 'card' },
    face(person), element('div', {}, element('h3', {}, name), element('p', { textContent: facts }),
      doubts ? element('p', { textContent: doubts }) : null, element('p', { textContent: `since ${clock(person.since)}` }), controls))
}

function button(text, of, action, grave = false) {
  const made = element('button', { type: 'button', textContent: text, onclick: action, className: grave ? 'grave' : '' })
  made.setAttribute('aria-label', `${text}: ${of}`)
  return made
}

function answer(wave) {
  return element('li', {}, element('strong', { textContent: wave.name }), ' waved back', wave.text ? `: ${wave.text}` : '')
}

function showTroubles(troubles) {
  $('troubles').hidden = troubles.length === 0
  keep($('troubles').querySelector('ul'), troubles, (trouble) => trouble.code + trouble.at,
    (trouble) => element('li', { textContent: `${clock(trouble.at)} ${trouble.message}` }))
}

function circleCard(circle) {
  const controls = element('p', {},
    circle.paused ? button('Resume', circle.circle, () => act({ do: 'resume', circle: circle.address }))
      : button('Pause', circle.circle, () => act({ do: 'pause', circle: circle.address })),
    button('Fetch the table', circle.circle, () => act({ do: 'sync', circle: circle.address })),
    button('Leave', circle.circle, () => leave(circle), true))
  const others = circle.members === null ? 'the others are not known now' : circle.members === 1 ? '1 other' : `${circle.members} others`
  return element('li', { className: 'card' }, element('div', {}, element('h3', { textContent: circle.circle }),
    element('p', { textContent: `You are ${circle.name}, number ${circle.number}; ${others}${circle.paused ? '; paused' : ''}` }),
    element('p', { textContent: circle.address }), circle.trouble ? element('p', { textContent: circle.trouble }) : null,
    circle.silence ? element('p', { textContent: circle.silence }) : null,
    membersOf(circle), settingsOf(circle), controls))
}

/** Something of a circle that is folded, and what happens when it is unfolded; it stays unfolded when the card is made again. */
function folded(title, circle, content, unfold) {
  const summary = element('summary', { textContent: title })
  summary.setAttribute('aria-label', `${title}: ${circle.circle}`)
  const key = `${title} ${circle.address}`
  const details = element('details', { open: unfolded.has(key), ontoggle: () => {
    if (!details.open) return unfolded.delete(key)
    unfold(!unfolded.has(key))
    unfolded.add(key)
  } }, summary, content)
  return details
}

/** The members of a circle, who are asked for when the list is unfolded, and hiding from one of them. */
function membersOf(circle) {
  const list = element('ul', { className: 'members' })
  return folded('Members', circle, list, () => showMembers(circle, list))
}

const settings = [['photo', 'Show my photo'], ['batch', 'Show my batch'], ['waves', 'Let members wave at me'], ['others_photos', 'Fetch the photos of others']]

/** What ends hiding from a person, and ignoring one whom the user has forgotten: the control, and what the question says. */
const ends = {
  hidden: ['Unhide', 'In this circle you see each other again.'],
  ignored: ['Stop ignoring', 'In this circle this device recognises the person again.']
}
/** Of whom that is being ended; a control that is made again still says so. */
const ending = new Set()
const endingOf = (circle, number) => `${number} ${circle.address}`

/** People of whom a circle's settings have the number: with the name where the log has it, and what brings each back. */
function absent(circle, kind, none) {
  const entries = circle[kind].map((number) => {
    const name = circle[`${kind}_names`][number]
    const who = name ? `${name}, number ${number}` : `number ${number}`
    const text = name ? who : `Number ${number}. This device does not keep the name.`
    const control = button(ends[kind][0], who, () => end(circle, kind, number, who))
    control.dataset.ending = endingOf(circle, number)
    return element('li', {}, element('span', { textContent: text }), control)
  })
  const list = entries.length ? element('ul', { className: `members ${kind}-people` }, ...entries) : element('p', { textContent: none })
  markEnding(list)
  return list
}

/** Says of each control whether its request runs. It keeps the focus, and does not ask a second time. */
function markEnding(parent) {
  for (const control of parent.querySelectorAll('[data-ending]')) control.ariaDisabled = String(ending.has(control.dataset.ending))
}

/** What the circle's members see of the user, from whom the user hides, and whom the user ignores. The server is asked when this is unfolded by hand. */
function settingsOf(circle) {
  const boxes = settings.map(([name, text]) => element('li', {}, settingBox(circle, name, text)))
  const remarks = [
    circle.paused ? 'You have paused: within six hours members stop recognising you, and cannot wave at you. They still see your name, and your photo and batch where these are on.' : '',
    circle.settings.photo && circle.has_photo === false ? 'The circle has no photo of you: it is missing or larger than 4096 bytes.' : '',
    circle.told ? '' : 'The circle\'s server does not know all of this yet.'
  ].filter((text) => text).map((text) => element('p', { textContent: text }))
  const content = element('div', {}, element('ul', {}, ...boxes), ...remarks,
    element('h4', { textContent: 'Hidden people' }), absent(circle, 'hidden', 'You hide from no one.'),
    element('h4', { textContent: 'Ignored people' }), absent(circle, 'ignored', 'You ignore no one.'))
  return folded('Settings', circle, content, (byHand) => {
    if (byHand) act({ do: 'settings', circle: circle.address })
  })
}

function settingBox(circle, name, text) {
  const value = circle.settings[name]
  const box = element('input', { type: 'checkbox', checked: value === true, indeterminate: value === null, onchange: async () => {
    const wanted = box.checked
    if (!await act({ do: 'settings', circle: circle.address, [name]: wanted })) return Object.assign(box, { checked: value === true, indeterminate: value === null })
    if (name === 'others_photos' && !wanted) forgetFaces()
  } })
  box.setAttribute('aria-label', `${text}: ${circle.circle}`)
  return element('label', {}, box, ` ${text}`)
}

async function showMembers(circle, list) {
  const answer = await ask('/members').catch(() => null)
  if (!answer?.ok) return
  const members = (await answer.json()).filter((member) => member.circle === circle.address)
  list.replaceChildren(...members.map((member) => element('li', {},
    element('span', { textContent: `${member.name}${member.batch ? ` (${member.batch})` : ''}` }),
    button('Hide', member.name, () => hide(circle, member)))))
  if (!members.length) list.append(element('li', { textContent: circle.members === null ? 'The other members are not known now.' : 'No other members when last fetched.' }))
}

function showJoining(joining) {
  $('joining').hidden = !joining
  if (!joining) return
  $('code').textContent = joining.code
  if (joining.page.startsWith('http')) $('joining-page').href = joining.page
}

/** When the log was read last, and what reads it after a pause: in a crowd people come each second, and all of it is decrypted. */
let logRead = -Infinity
let later

function showLogSoon() {
  clearTimeout(later)
  const rest = logRead + 10_000 - performance.now()
  if (rest <= 0) showLog()
  else later = setTimeout(showLog, rest)
}

async function showLog() {
  clearTimeout(later)
  logRead = performance.now()
  const answer = await ask('/log').catch(() => null)
  if (!answer?.ok) return
  const rows = await answer.json()
  $('entries').replaceChildren(...rows.map((row) => element('tr', {},
    element('td', { textContent: `${named(row)}${row.batch ? ` (${row.batch})` : ''}${row.trust === 'unverified' || row.trust === null ? ', not verified' : row.trust === 'file' ? ', by keys from a file' : ''}` }),
    element('td', { textContent: moment(row.last).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }) }),
    element('td', { textContent: length(row.seconds) }),
    element('td', { textContent: row.closest === null ? near(row.proximity, true) : `${row.closest.toFixed(1)} m` }),
    element('td', { textContent: row.strongest === null ? '' : `${row.strongest} dBm` }))))
}

// An encounter grows longer without an event.
setInterval(() => {
  if (token && !document.hidden) showLog()
}, 60_000)

// Questions

/** Asks; resolves to the text (or ''), or null when the user keeps things as they are. */
function question(title, text, yes, { words = false, grave = true } = {}) {
  const dialog = $('question')
  $('question-title').textContent = title
  $('question-text').textContent = text
  $('yes').textContent = yes
  $('yes').className = grave ? 'grave' : ''
  for (const id of ['text', 'text-label']) $(id).hidden = !words
  $('text').value = ''
  $('text').setCustomValidity('')
  dialog.returnValue = 'no'
  dialog.showModal()
  if (words) $('text').focus()
  return new Promise((resolve) => dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes' ? $('text').value : null), { once: true }))
}

async function wave(person) {
  const text = await question(`Wave at ${named(person)}?`, 'It is seen only by waving too.', 'Wave', { words: true, grave: false })
  if (text !== null) act({ do: 'wave', person: person.person, text })
}

async function forget(person) {
  const yes = await question(`Forget ${named(person)}?`,
    'Encounters, profile, photo and keys are removed from this device, which ignores a member from then on.', 'Forget')
  if (yes !== null && await act({ do: 'forget', person: person.person })) {
    forgetFaces(person.person)
    showLog()
    $('here').focus()
  }
}

async function hide(circle, member) {
  const yes = await question(`Hide from ${member.name}?`, 'In this circle you no longer see each other, and you are no longer friends. The person is not told.', 'Hide')
  if (yes !== null && await act({ do: 'hide', circle: circle.address, person: member.person })) {
    forgetFaces(member.person)
    $('circles').focus()
  }
}

async function end(circle, kind, number, who) {
  const [word, text] = ends[kind]
  const key = endingOf(circle, number)
  if (ending.has(key) || await question(`${word} ${who}?`, text, word, { grave: false }) === null) return
  ending.add(key)
  markEnding(document)
  say('Waiting for the circle\'s server…')
  const done = await act({ do: 'unhide', circle: circle.address, person: number })
  ending.delete(key)
  markEnding(document)
  if (done) $('circles').focus()
}

async function leave(circle) {
  const yes = await question(`Leave ${circle.circle}?`, 'Others do not recognise you any more, and nothing of the circle stays on this device.', 'Leave')
  if (yes !== null && await act({ do: 'leave', circle: circle.address })) forgetFaces()
}

/** The limit is in bytes; the field's own counts an accent as one. */
$('text').oninput = () => {
  const length = new TextEncoder().encode($('text').value).length
  $('text').setCustomValidity(length > 80 ? 'This is too long. Accents and emoji count more than once.' : '')
}
$('keep').onclick = () => $('question').close('no')
$('ask').onclick = () => act({ do: 'answers' })
$('reload').onclick = showLog
$('sends').onchange = async () => {
  if (!await act({ do: 'send', on: $('sends').checked })) $('sends').checked = state?.sends ?? false
}
$('quiet').onsubmit = (event) => {
  event.preventDefault()
  act({ do: 'quiet', minutes: Number($('minutes').value) })
}
$('join').onsubmit = async (event) => {
  event.preventDefault()
  if (await act({ do: 'join', circle: $('address').value })) $('join').reset()
}
$('forget-everyone').onclick = async () => {
  const yes = await question('Forget everyone?', 'Everything about people nearby is removed from this device, your circles and your own identifiers too.', 'Forget everyone')
  if (yes !== null && await act({ do: 'forget everyone' })) {
    forgetFaces()
    showLog()
  }
}
$('stop').onclick = async () => {
  if (await question('Stop Handshake?', 'It then notices no one who is near.', 'Stop') !== null) act({ do: 'stop' })
}
enter()
