#if Server && Sandbox
import Foundation
import Geofences
import IFTTTConnect
import Mustache

/// The page of a connection's walks as HTML.
struct WalkPage {
    let id: ConnectionID
    let areas: [Area]
    /// What the last walk has seen; empty before the first.
    let diary: Diary
    /// Whether the customer chooses areas on the shop's own page.
    let isConfigurable: Bool
    /// In seconds since 1970.
    let now: Double

    /// Text of our own; a mistake in it would show at the first look at the page.
    private static let template = try? MustacheTemplate(
        string: """
            {{#problem}}<p class="problem" role="alert">{{.}}</p>{{/problem}}
            {{^areas}}
            <p>This connection has no area to walk through.\
            {{#configurable}} <a href="/connections/{{id}}/configure">Choose where and what</a>{{/configurable}}</p>
            {{/areas}}
            {{#hasAreas}}
            <p role="status">{{summary}}</p>
            <h2>Areas</h2>
            <ul class="areas">
            {{#areas}}
            <li><strong>{{name}}</strong><br>{{#purpose}}{{.}}. {{/purpose}}Radius {{size}}. {{counts}}</li>
            {{/areas}}
            </ul>
            {{#more}}<p>A walk leads through the first {{.}} of them.</p>{{/more}}
            <form method="post" action="/connections/{{id}}/walk">
            <input type="hidden" name="form_token" value="{{token}}">
            <p class="check"><input id="monitored" name="monitored" type="checkbox"{{#monitored}} checked{{/monitored}}>\
            <label for="monitored">Monitor these areas on the phone</label></p>
            <p><button>Take a walk</button></p>
            </form>
            {{/hasAreas}}
            {{#hasCrossings}}
            <h2>What the phone noticed</h2>
            <ol class="crossings">
            {{#crossings}}
            <li><time datetime="{{date}}">{{time}}</time><br>
            <strong>{{what}}</strong>{{#purpose}} ({{.}}){{/purpose}}<br>{{fate}}\
            {{#event}} {{.}}{{/event}}</li>
            {{/crossings}}
            </ol>
            {{/hasCrossings}}
            {{#hasAreas}}
            <h2>Map</h2>
            <p>The areas and the walk are where they are; the town around them is made up.</p>
            {{#maps}}
            <figure class="map"><div role="img" aria-label="{{label}}">{{{svg}}}</div>\
            {{#signs}}<figcaption aria-hidden="true"><span class="enter">▼</span> entered <span class="exit">▲</span> left</figcaption>\
            {{/signs}}</figure>
            {{/maps}}
            {{/hasAreas}}
            <p><a href="/connections/{{id}}">Back to the connection</a></p>
            """)

    func render(token: String) -> String? {
        var content: [String: Any] = [
            "id": id.rawValue, "token": token, "summary": summary, "areas": areas.map(values), "maps": maps,
            "crossings": diary.entries.map(values),
        ]
        content["problem"] = diary.trouble.map(words)
        if isConfigurable { content["configurable"] = "yes" }
        if !areas.isEmpty { content["hasAreas"] = "yes" }
        if diary.monitorsAreas { content["monitored"] = "yes" }
        if areas.count > Walk.limit { content["more"] = "\(Walk.limit)" }
        if !diary.entries.isEmpty { content["hasCrossings"] = "yes" }
        return Self.template?.render(content)
    }

    /// What the page is for, or how the last walk went.
    private var summary: String {
        guard !diary.isWalking else { return "IFTTT has not answered yet. Reload this page in a moment." }
        guard diary.monitorsAreas else { return "The phone does not monitor the areas, so it noticed nothing." }
        guard diary.hasWalked else {
            return "A simulated phone walks through each area and out again, and tells IFTTT what it crosses."
        }
        guard diary.legs.contains(where: { !$0.events.isEmpty }) else { return "The last walk crossed no area's edge." }
        let end = diary.legs.flatMap(\.fixes).last.map { " at " + clock($0.time) } ?? ""
        return "The last walk ended\(end)."
    }

    private func words(for trouble: Diary.Trouble) -> String {
        switch trouble {
        case .signInRequired:
            "The shop has no access to IFTTT for you. Connect again; what the phone noticed waits until the next walk."
        case .token(let error):
            "\(error.map(Self.words) ?? "IFTTT did not answer"), so the shop has no access for you now. "
                + "What the phone noticed waits until the next walk."
        case .areas: "IFTTT has not said where the areas are, so there was no walk. Take it again in a moment."
        case .stopped: "The walk was interrupted. Take it again."
        }
    }

    // MARK: Areas

    private func values(_ area: Area) -> [String: Any] {
        var values: [String: Any] = ["name": area.name, "size": area.size]
        values["purpose"] = area.purpose
        values["counts"] =
            switch area.crossings {
            case [.enter]: "Entering counts."
            case [.exit]: "Leaving counts."
            default: "Entering and leaving count."
            }
        return values
    }

    /// A map of each leg of the walk; before a walk, of the areas that one leads through.
    private var maps: [[String: Any]] {
        var legs = diary.legs
        if legs.isEmpty {
            legs = Walk.Leg.legs(through: areas.map(\.circle)).map { leg in
                Diary.Leg(areas: leg.areas.map { areas[$0] }, fixes: [], events: [])
            }
        }
        return legs.map { leg in
            // Areas of one place and name are one on the map.
            var regions: [Geofence] = []
            for area in leg.areas where !regions.contains(area.region) { regions.append(area.region) }
            let map = GeofenceMap(regions: regions, track: leg.fixes, events: leg.events, hasStreets: true)
            var values: [String: Any] = ["label": label(leg, regions), "svg": map.svg]
            if !leg.events.isEmpty { values["signs"] = "yes" }
            return values
        }
    }

    /// What the map shows, in words.
    private func label(_ leg: Diary.Leg, _ regions: [Geofence]) -> String {
        var parts = regions.map { region in
            "\(region.id), radius \(leg.areas.first { $0.region == region }?.size ?? "unknown")"
        }
        if !leg.fixes.isEmpty {
            var seen: [String] = []
            for event in leg.events {
                let text = "\(event.kind == .enter ? "entered" : "left") at \(clock(event.since))"
                if !seen.contains(text) { seen.append(text) }
            }
            parts.append(
                "the walk from west to east" + (seen.isEmpty ? "" : ": " + seen.joined(separator: ", ")))
        }
        return "Map: " + parts.joined(separator: "; ") + "."
    }

    // MARK: Crossings

    private func values(_ entry: Diary.Entry) -> [String: Any] {
        let time = Date(timeIntervalSince1970: entry.crossing.occurredAt)
        let verb = entry.crossing.kind == .enter ? "Entered" : "Left"
        var values: [String: Any] = [
            "date": time.formatted(.iso8601), "time": clock(time), "what": "\(verb) \(entry.area?.name ?? "an area")",
            "fate": fate(entry),
        ]
        // Two areas may be at one place.
        if areas.count > 1 { values["purpose"] = entry.area?.purpose }
        values["event"] = event(entry)
        return values
    }

    private func fate(_ entry: Diary.Entry) -> String {
        switch entry.fate {
        case .underway: "It is being uploaded, and IFTTT has not answered yet. Reload this page in a moment."
        case .uploaded: "Uploaded."
        case .waiting(let error):
            (error.map(Self.words) ?? "It is not uploaded yet") + ", so it waits. The next walk uploads it."
        case .discarded(let reason): "Not uploaded: \(words(for: reason, entry.crossing.kind))."
        }
    }

    private func words(for reason: PlaceEvent.DiscardReason, _ kind: RegionCrossing.Kind) -> String {
        switch reason {
        case .otherDirection: kind == .enter ? "only leaving counts" : "only entering counts"
        case .expired: "it is too old"
        case .unknownSubscription: "the connection has another area now"
        case .switchedOff: "the area is switched off"
        case .disabled: "the connection is off"
        case .rejected: "IFTTT refuses it"
        case .otherUser: "another user has signed in to IFTTT since"
        }
    }

    /// Whether IFTTT's event has arrived; nil when none is expected.
    private func event(_ entry: Diary.Entry) -> String? {
        if let notified = entry.notifiedAt {
            guard let sent = entry.sentAt, notified >= sent else { return "IFTTT notified the shop." }
            let seconds = notified - sent
            return seconds < 0.1
                ? "IFTTT notified the shop less than 0.1 s later."
                : "IFTTT notified the shop \(String(format: "%.1f", seconds)) s later."
        }
        guard case .uploaded = entry.fate else { return nil }
        return "IFTTT has not notified the shop yet. Reload this page in a moment."
    }

    private static func words(for error: ConnectError) -> String {
        switch error {
        case .service(let problem) where problem.kind == .unauthorized: "IFTTT refused the shop's access (status 401)"
        case .service(let problem): "IFTTT answered with an error (status \(problem.status))"
        case .network, .malformed, .account, .input: "IFTTT did not answer"
        }
    }

    /// The time of day in UTC, with the date unless it is today's.
    private func clock(_ time: Date) -> String {
        let text = time.formatted(.iso8601)
        let isToday = Date(timeIntervalSince1970: now).formatted(.iso8601).prefix(10) == text.prefix(10)
        return (isToday ? "" : text.prefix(10) + " ") + text.dropFirst(11).prefix(8) + " UTC"
    }
}
#endif
