#if Server
import Circles
import HTTPTypes
import Handshake
import OAuth

/// A sealed wave that waits for the other one, or for its reader (circles dossier 6).
struct CircleWave: Sendable {
    /// Drawn by the sender's device, which sends the same wave again when an answer is lost.
    let id: String
    let sender: UInt32
    /// The values of the windows in which they met, among random ones: the server cannot tell which.
    let meetings: [[UInt8]]
    let box: [UInt8]
    /// Seconds since 1970; a match begins another day.
    var expires: Double
    /// The value that matched, and the other member's box, until the sender has it.
    var matched: (value: [UInt8], box: [UInt8])?

    static let idLength = 16
    static let lifetime = 86_400.0

    /// Whether a device can have drawn this: 16 bytes in base64url.
    static func isID(_ text: String) -> Bool { text.utf8.count == 22 && Base64URL.decode(text)?.count == idLength }
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
    /// What a member who polls learns of waves.
    struct WaveReport: Sendable {
        var matched: [(id: String, box: [UInt8])] = []
        var waiting: [String] = []
    }

    /// Takes a wave. When another member's live wave has one of its values, both are matched.
    ///
    /// Idempotent: the same wave again has the same answer, whatever became of it.
    ///
    /// - Parameter id: what the device drew; devices of earlier versions draw nothing.
    /// - Returns: its identifier and seconds until it expires.
    /// - Throws: 422 for another number of values or lengths, 409 for a value that was matched.
    func wave(
        from member: UInt32, id: String? = nil, meetings: [[UInt8]], box: [UInt8]
    ) async throws -> (id: String, expiresIn: Double) {
        guard id.map(CircleWave.isID) ?? true, meetings.count == WaveSecret.meetings,
            Set(meetings).count == meetings.count,
            meetings.allSatisfy({ $0.count == 16 }), box.count == WaveSecret.boxLength
        else { throw RequestRefusal(.unprocessableContent, "malformed", "A wave has eight values and a sealed box") }
        return try await inTurn { circle in
            let now = circle.time.now()
            if let id, let known = circle.waves[id], known.expires > now {
                guard known.sender == member, known.meetings == meetings, known.box == box else {
                    throw RequestRefusal(.conflict, "matched", "This wave is another one")
                }
                try await circle.completeMatch(of: known, at: now)
                return (id, known.expires - now)
            }
            let live = circle.waves.values.filter { $0.expires > now && $0.sender != member }
            let values = Set(meetings)
            guard !values.contains(where: { (circle.spent[$0] ?? 0) > now }) else {
                throw RequestRefusal(.conflict, "matched", "This wave was answered already")
            }
            var wave = CircleWave(
                id: id ?? Base64URL.encode(circle.random.bytes(CircleWave.idLength)), sender: member,
                meetings: meetings, box: box, expires: now + CircleWave.lifetime)
            for other in live where other.matched == nil && !circle.areHidden(member, other.sender) {
                guard let value = other.meetings.first(where: { values.contains($0) }) else { continue }
                wave.matched = (value, other.box)
                break
            }
            try await circle.store(wave)
            try await circle.completeMatch(of: wave, at: now)
            return (wave.id, CircleWave.lifetime)
        }
    }

    /// Gives the other member of a match the box of this one, if that is still to be done: whatever comes between the two
    /// writes, neither member learns of it without the other.
    private func completeMatch(of wave: CircleWave, at now: Double) async throws {
        guard let matched = wave.matched else { return }
        spent[matched.value] = max(spent[matched.value] ?? 0, now + CircleWave.lifetime)
        let other = waves.values.first {
            $0.sender != wave.sender && $0.box == matched.box && $0.meetings.contains(matched.value)
        }
        guard var other, other.matched == nil else { return }
        other.matched = (matched.value, wave.box)
        other.expires = now + CircleWave.lifetime
        try await store(other)
    }

    /// What became of a member's waves. A matched one is handed over until the device has withdrawn it.
    func waves(of member: UInt32) async throws -> WaveReport {
        try await inTurn { circle in
            let now = circle.time.now()
            var report = WaveReport()
            for wave in circle.waves.values.sorted(by: { $0.id < $1.id }) where wave.sender == member {
                if wave.expires <= now {
                    try await circle.remove(wave)
                } else if let matched = wave.matched {
                    try await circle.completeMatch(of: wave, at: now)
                    report.matched.append((wave.id, matched.box))
                } else {
                    report.waiting.append(wave.id)
                }
            }
            return report
        }
    }

    /// Withdraws a wave, or ends one whose answer the device has. Idempotent.
    func withdraw(_ id: String, of member: UInt32) async throws {
        try await inTurn { circle in
            guard let wave = circle.waves[id], wave.sender == member else { return }
            try await circle.remove(wave)
        }
    }
}
#endif
