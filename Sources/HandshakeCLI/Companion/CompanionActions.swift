#if CommandLine
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth

/// What the page's controls do.
struct CompanionActions: Sendable {
    let vault: any Vault
    let state: CompanionState
    /// Ends the command.
    let stop: @Sendable () -> Void

    private var environment: CircleEnvironment { NearbyVault.environment(vault) }
    private var log: EncounterLog { EncounterLog(in: vault, community: NearbyCommand.community) }
    private var stored: StoredPeople { NearbyVault.stored(in: vault) }
    private var quiet: DoNotDisturb { DoNotDisturb(in: vault, community: NearbyCommand.community) }

    /// The longest time without alerts, in minutes: a day.
    private static let maximumQuiet: Int64 = 1_440

    /// What a request says, which is none of the page's.
    struct Malformed: Error {}

    /// Does what a request says.
    ///
    /// - Returns: a sentence about what was done.
    /// - Throws: ``Malformed``, `NearbyError`, `CancellationError`.
    func perform(_ request: JSONObject) async throws -> String {
        defer { Task { await refresh() } }
        switch request["do"]?.string {
        case "quiet": return try await setQuiet(request)
        case "send":
            guard let sends = request["on"]?.bool else { throw Malformed() }
            // First, because the watch that begins again asks for it.
            let before = state.sends
            state.sends = sends
            do { try await stored.renewWatches() } catch {
                state.sends = before
                throw error
            }
            return sends
                ? "Sending starts. The line that begins with Bluetooth shows whether it works; if not, see “What needs attention”."
                : "Sending ends."
        case "wave":
            let person = try person(request)
            let circle = try await circle(of: person)
            guard try await circle.wave(at: person, text: request["text"]?.string ?? "", log: log) else {
                return "You have waved. The circle's server has not confirmed the wave, which is sent again."
            }
            for wave in try await circle.collectWaves() { state.show(wave) }
            return "You have waved. It is seen when the other person waves too."
        case "answers":
            for circle in try await JoinedCircle.all(in: environment) {
                for wave in try await circle.collectWaves() { state.show(wave) }
            }
            return "The answers are current."
        case "forget":
            let person = try person(request)
            let deletion = try await stored.forget(person)
            state.forget(person)
            return Self.forgotten(deletion)
        case "forget everyone":
            await state.cancelJoining()
            let deletion = try await stored.forgetEveryone()
            state.forget(nil)
            await stored.deliverFarewells(over: .platform, at: Now.seconds)
            return deletion.sentence
        case "stop":
            stop()
            return "Handshake has stopped. You can close this page."
        case let action?: return try await change(action, request)
        case nil: throw Malformed()
        }
    }

    /// Actions on a circle.
    private func change(_ action: String, _ request: JSONObject) async throws -> String {
        guard let address = request["circle"]?.string, address.utf8.count <= 2_048 else { throw Malformed() }
        if action == "join" { return try await join(address) }
        guard let circle = try await circle(at: address) else { throw Malformed() }
        switch action {
        case "sync":
            _ = try await circle.synchronize()
            return "The table is current."
        case "pause":
            return CircleText.paused(try await circle.pause())
        case "resume":
            try await circle.resume()
            return "Others can recognise you again."
        case "leave":
            return CircleText.left(try await circle.leave())
        case "hide":
            let person = try person(request)
            return CircleText.hidden(try await circle.hide(person), from: "this person")
                + " To undo it: Hidden people, in this circle's settings."
        case "unhide":
            let person = try person(request)
            let name = try? await log.history(of: person)?.known?.name
            let wasIgnored = try await circle.visibility().ignored.contains(person)
            return CircleText.shown(
                name.map { quoted($0, limit: 80) } ?? "Number \(person)", wasIgnored: wasIgnored,
                try await circle.unhide(person))
        case "settings":
            let change = JoinedCircle.VisibilityChange(
                photo: request["photo"]?.bool, batch: request["batch"]?.bool, waves: request["waves"]?.bool,
                othersPhotos: request["others_photos"]?.bool)
            guard change.isEmpty else {
                try await circle.change(change)
                return CircleText.changed(change, try await circle.summary(), try await circle.visibility())
            }
            return try await circle.refreshVisibility()
                ? "The settings are current." : CircleText.notAsked(try await circle.summary())
        default: throw Malformed()
        }
    }

    /// What was removed of a person, and how a member is recognised again.
    static func forgotten(_ deletion: StoredPeople.Deletion) -> String {
        guard deletion.isIgnoring else { return deletion.sentence }
        return deletion.sentence
            + " This device ignores the person from now on. To undo it: Ignored people, in the circle's settings."
    }

    private func setQuiet(_ request: JSONObject) async throws -> String {
        guard let minutes = request["minutes"]?.integer, (0...Self.maximumQuiet).contains(minutes) else {
            throw Malformed()
        }
        let end = minutes == 0 ? nil : Now.seconds + Double(minutes) * 60
        try await quiet.set(until: end)
        return minutes == 0 ? "Alerts are shown." : "No alerts for \(Span.text(Double(minutes) * 60))."
    }

    /// Begins to join; the page shows the code and the link, and the rest happens when the browser has been there.
    private func join(_ address: String) async throws -> String {
        let joining = try await CircleJoining.begin(at: address, in: environment)
        state.beginJoining(code: joining.code, page: joining.page) { attempt in
            do {
                let summary = try await joining.finish().summary()
                state.announce("You are in \(quoted(summary.circle, limit: 80)) as \(quoted(summary.name, limit: 80)).")
                try await stored.renewWatches()
            } catch is CancellationError {
                // Everyone was forgotten.
            } catch {
                state.note(trouble: "circle_failed", (error as? NearbyError)?.message ?? "\(error)")
            }
            state.endJoining(attempt)
            await refresh()
        }
        return "Open the page, compare the code, and sign in."
    }

    /// Brings what the page shows of circles, waves and quiet up to date.
    func refresh() async {
        let reading = state.beginReading()
        var circles = CircleReading()
        for circle in (try? await JoinedCircle.all(in: environment)) ?? [] {
            if let summary = try? await circle.summary(), let visibility = try? await circle.visibility() {
                circles.joined.append((summary, visibility))
                // Hiding removes the person from the circle's table, and leaves the log.
                for person in visibility.hidden + visibility.ignored where circles.names[person] == nil {
                    circles.names[person] = try? await log.history(of: person)?.known?.name
                }
            }
            circles.waiting += (try? await circle.wavesWaiting()) ?? []
        }
        circles.quietUntil = try? await quiet.end(at: Now.seconds)
        state.show(circles, of: reading)
    }

    // MARK: What is asked for

    /// How many encounters the page shows.
    private static let maximumEncounters = 500

    /// The log, newest encounter first.
    func history() async throws -> JSONText {
        let people = try await log.contents(at: Now.seconds).people
        return .array(
            Self.shown(of: people).map { history, encounter in
                .object([
                    ("person", .integer(Int64(history.person.value))), ("name", .optional(history.known?.name)),
                    ("batch", .optional(history.known?.batch)), ("first", .seconds(encounter.firstSeen)),
                    ("last", .seconds(encounter.lastSeen)), ("seconds", .seconds(encounter.duration)),
                    ("closest", encounter.closest.map { .decimal($0) } ?? .null),
                    ("proximity", .string(encounter.proximity.word)),
                    ("strongest", encounter.strongest.map { .decimal($0.rounded()) } ?? .null),
                    ("trust", .optional(encounter.trust?.word)),
                ])
            })
    }

    /// The newest encounters, newest first. If there are too many, those that any device could have invented are left out first.
    static func shown(of people: [PersonHistory]) -> [(PersonHistory, Encounter)] {
        let rows = people.flatMap { history in history.encounters.map { (history, $0) } }
            .sorted { $0.1.lastSeen > $1.1.lastSeen }
        let verified = rows.count { $0.1.trust != .unverified }
        var room = max(0, maximumEncounters - verified)
        return Array(
            rows.filter { _, encounter in
                guard encounter.trust == .unverified else { return true }
                room -= 1
                return room >= 0
            }.prefix(maximumEncounters))
    }

    /// The members of all circles.
    func members() async throws -> JSONText {
        var rows: [JSONText] = []
        for circle in try await JoinedCircle.all(in: environment) {
            let address = try await circle.summary().address
            let members: [JoinedCircle.Member]
            do {
                members = try await circle.members()
            } catch NearbyError.circle(.unreadableTable) {
                // The page shows that beside the circle.
                continue
            }
            rows += members.map { member in
                .object([
                    ("circle", .string(address)), ("person", .integer(Int64(member.person.value))),
                    ("name", .string(member.name)), ("batch", .string(member.batch)),
                    ("trust", .string(member.trust.word)), ("publishing", .bool(member.isPublishing)),
                    ("waves", .bool(member.takesWaves)),
                ])
            }
        }
        return .array(rows)
    }

    private func person(_ request: JSONObject) throws -> UserNumber {
        guard let number = request["person"]?.integer.flatMap({ Int(exactly: $0) }),
            let person = try? UserNumber(number)
        else { throw Malformed() }
        return person
    }

    private func circle(at address: String) async throws -> JoinedCircle? {
        for circle in try await JoinedCircle.all(in: environment) where try await circle.summary().address == address {
            return circle
        }
        return nil
    }

    /// A circle that a person is a member of.
    private func circle(of person: UserNumber) async throws -> JoinedCircle {
        let circles = try await JoinedCircle.all(in: environment)
        for circle in circles where try await circle.introduce(person) != nil { return circle }
        for circle in circles {
            // It may have the person.
            if case .unreadableTable(let name)? = try await circle.summary().tableProblem {
                throw NearbyError.circle(.unreadableTable(circle: name))
            }
        }
        for circle in circles where try await circle.visibility().ignored.contains(person) {
            let name = quoted(try await circle.summary().circle, limit: 80)
            throw NearbyError.circle(.forgottenMember(person, circle: name))
        }
        throw NearbyError.circle(.wave("number \(person) is in none of your circles"))
    }
}
#endif
