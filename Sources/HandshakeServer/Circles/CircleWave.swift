#if Server
import Circles
import HTTPTypes
import Handshake
import OAuth

/// A sealed wave that waits for the other one, or for its reader (circles dossier 6).
struct CircleWave: Sendable {
    let id: String
    let sender: UInt32
    /// The values of the windows in which they met, among random ones: the server cannot tell which.
    let meetings: [[UInt8]]
    let box: [UInt8]
    /// Seconds since 1970.
    let expires: Double
    /// The value that matched, and the other member's box, which the sender has not fetched yet.
    var matched: (value: [UInt8], box: [UInt8])?

    static let idLength = 16
    static let lifetime = 86_400.0
}

extension CircleWave {
    /// The record as stored.
    var stored: [UInt8] {
        var members: JSONObject = [
            "version": .number("1"), "id": .string(id), "sender": .number("\(sender)"),
            "meetings": .array(meetings.map { .string(Base64URL.encode($0)) }), "box": .string(Base64URL.encode(box)),
            "expires": .number("\(expires)"),
        ]
        members["matched_value"] = matched.map { .string(Base64URL.encode($0.value)) }
        members["matched_box"] = matched.map { .string(Base64URL.encode($0.box)) }
        return Array(JSONValue.object(members).json.utf8)
    }

    /// Reads a stored record; nil when it is not one of this version.
    init?(stored bytes: [UInt8]) {
        guard let members = (try? JSONValue(parsing: bytes))?.object, members["version"]?.integer == 1,
            let id = members["id"]?.string, let box = members["box"]?.string.flatMap({ Base64URL.decode($0) }),
            let sender = members["sender"]?.integer.flatMap({ UInt32(exactly: $0) }),
            case .number(let spelling)? = members["expires"], let expires = Double(spelling)
        else { return nil }
        let meetings = (members["meetings"]?.array ?? []).compactMap { $0.string.flatMap { Base64URL.decode($0) } }
        self.init(id: id, sender: sender, meetings: meetings, box: box, expires: expires)
        if let value = members["matched_value"]?.string.flatMap({ Base64URL.decode($0) }),
            let box = members["matched_box"]?.string.flatMap({ Base64URL.decode($0) })
        {
            matched = (value, box)
        }
    }
}

extension MemberCircle {
    /// What a member who polls is told of waves.
    struct WaveReport: Sendable {
        var matched: [(id: String, box: [UInt8])] = []
        var waiting: [String] = []
    }

    /// Takes a wave. When another member's live wave has one of its values, both are matched.
    ///
    /// - Returns: its identifier and seconds until it expires.
    /// - Throws: 422 for another number of values or lengths, 409 for a value that was matched.
    func wave(
        from member: UInt32, meetings: [[UInt8]], box: [UInt8]
    ) async throws -> (id: String, expiresIn: Double) {
        guard meetings.count == WaveSecret.meetings, Set(meetings).count == meetings.count,
            meetings.allSatisfy({ $0.count == 16 }), box.count == WaveSecret.boxLength
        else { throw RequestRefusal(.unprocessableContent, "malformed", "A wave has eight values and a sealed box") }
        return try await inTurn { circle in
            let now = circle.time.now()
            let live = circle.waves.values.filter { $0.expires > now && $0.sender != member }
            let values = Set(meetings)
            guard !values.contains(where: { (circle.spent[$0] ?? 0) > now }) else {
                throw RequestRefusal(.conflict, "matched", "This wave was answered already")
            }
            var wave = CircleWave(
                id: Base64URL.encode(circle.random.bytes(CircleWave.idLength)), sender: member, meetings: meetings,
                box: box, expires: now + CircleWave.lifetime)
            for var other in live where other.matched == nil {
                guard let value = other.meetings.first(where: { values.contains($0) }) else { continue }
                wave.matched = (value, other.box)
                other.matched = (value, box)
                circle.spent[value] = now + CircleWave.lifetime
                try await circle.store(other)
                break
            }
            try await circle.store(wave)
            return (wave.id, CircleWave.lifetime)
        }
    }

    /// What became of a member's waves. A matched one is handed over once.
    func waves(of member: UInt32) async throws -> WaveReport {
        try await inTurn { circle in
            let now = circle.time.now()
            var report = WaveReport()
            for wave in circle.waves.values.sorted(by: { $0.id < $1.id }) where wave.sender == member {
                if wave.expires <= now {
                    try await circle.remove(wave)
                } else if let matched = wave.matched {
                    report.matched.append((wave.id, matched.box))
                    try await circle.remove(wave)
                } else {
                    report.waiting.append(wave.id)
                }
            }
            return report
        }
    }

    /// Withdraws a wave. Idempotent.
    func withdraw(_ id: String, of member: UInt32) async throws {
        try await inTurn { circle in
            guard let wave = circle.waves[id], wave.sender == member else { return }
            try await circle.remove(wave)
        }
    }
}
#endif
