import Beacons
import Circles
import Foundation
import Handshake
import Nearby
import Observation
import Radio

/// Who is here, and what the user decides.
@MainActor @Observable
final class Companion {
    /// The namespace of the numbers.
    nonisolated static let community = "recurse-center"

    private(set) var people: [NearbyPerson] = []
    private var photos: [Face: Data] = [:]
    private(set) var circles: [JoinedCircle.Summary] = []
    /// What the members of a circle see of the user, from whom the user hides, and whom the user ignores, by the circle's address.
    private(set) var visibilities: [String: JoinedCircle.Visibility] = [:]
    private(set) var waves: [MutualWave] = []
    private(set) var quietUntil: Date?
    /// The attempt to join that waits until the user has decided on its page.
    private(set) var joining: CircleJoining?
    /// Whether that page is open. Closing it does not end the attempt: who has agreed on it closes it.
    var isJoiningPageOpen = false
    /// What the radio lacks, or why nothing is watched.
    private(set) var trouble: String?
    /// What to tell the user.
    var message: String?

    @ObservationIgnored private var vault: (any Vault)?
    @ObservationIgnored private var known: KnownPeople?
    @ObservationIgnored private var watching: (isInBackground: Bool, task: Task<Void, Never>)?
    @ObservationIgnored private var joinTask: Task<Void, Never>?
    private let alerts = UserNotificationAlerts()

    /// Whose photo it is: each circle has its own of a number.
    private struct Face: Hashable {
        let person: UserNumber
        let circle: CircleScope?

        init(_ person: NearbyPerson) { (self.person, circle) = (person.person, person.circle) }
    }

    /// The photo that the circle has whose keys recognised a person.
    func photo(of person: NearbyPerson) -> Data? { photos[Face(person)] }

    // MARK: Watching

    /// Watches from now on, in place of an earlier watch of the other kind.
    func start(inBackground: Bool) {
        guard watching?.isInBackground != inBackground else { return }
        let earlier = watching?.task
        earlier?.cancel()
        let task = Task {
            // The system restores one radio of this name at a time.
            await earlier?.value
            await run(inBackground: inBackground)
        }
        watching = (inBackground, task)
    }

    /// Watches until the task is cancelled.
    private func run(inBackground: Bool) async {
        while !Task.isCancelled {
            do {
                try await watch(inBackground: inBackground)
            } catch is CancellationError {
                return
            } catch {
                trouble = "\(error)"
                try? await Task.sleep(for: .seconds(10))
            }
        }
    }

    /// Watches until keys or circles change, or everything is forgotten.
    private func watch(inBackground: Bool) async throws {
        let vault = try await open()
        let ending = try await PeopleNearby.watch(in: vault, community: Self.community) { period in
            try await plan(in: period, inBackground: inBackground)
        }
        if ending == .everyoneForgotten { (waves, photos) = ([], [:]) }
    }

    /// What is watched for now.
    private func plan(in period: PeopleVault, inBackground: Bool) async throws -> WatchPlan {
        let known = try await KnownPeople(in: environment(period))
        (self.known, trouble, people) = (known, nil, [])
        await readCircles(in: period)
        let quiet = DoNotDisturb(in: period, community: Self.community)
        quietUntil = try await quiet.end(at: Self.now).map { Date(timeIntervalSince1970: $0) }
        let expected: AppleRadio.Expecting = { await known.expected(at: $0) }
        return WatchPlan(
            known, over: AppleRadio(uuids: [], expecting: inBackground ? expected : nil), sending: known.broadcasts,
            alerts: alerts, radioEvent: { event in Task { @MainActor in self.note(event) } },
            report: { await self.note($0) })
    }

    private func note(_ event: RadioWatchEvent) {
        switch event {
        case .listening(.unavailable(let error)), .sending(.unavailable(let error)), .sendingFailed(let error):
            trouble = "\(error)"
        case .listening: trouble = nil
        case .sending, .damage: break
        }
    }

    private func note(_ event: WatchPlan.Event) async {
        switch event {
        case .update(.people(let present)):
            people = present
            for face in present.map(Face.init) where photos[face] == nil {
                photos[face] = await known?.photo(of: face.person, in: face.circle).map { Data($0) }
            }
        case .update(.logFailed(let error)): trouble = "\(error)"
        case .answered(let wave): waves.append(wave)
        case .circleFailed: await refresh()
        case .update: break
        }
    }

    // MARK: Decisions

    /// Asks for permission to show alerts, after the screen has said what for.
    func allowAlerts() async {
        await tell {
            let isAllowed = try await alerts.requestPermission()
            return isAllowed ? "Alerts are shown." : "Alerts are off. You can allow them in Settings."
        }
    }

    /// Joins a circle: the page opens, and shows the same code. An earlier attempt ends.
    func join(_ address: String, replacingIdentity: Bool) {
        let earlier = joinTask
        earlier?.cancel()
        joinTask = Task {
            await earlier?.value
            await tell {
                let environment = environment(try await open())
                let attempt = try await CircleJoining.begin(
                    at: address, in: environment, replacingIdentity: replacingIdentity)
                (joining, isJoiningPageOpen) = (attempt, true)
                defer { (joining, isJoiningPageOpen) = (nil, false) }
                let summary = try await attempt.finish().summary()
                return "You are in \(summary.circle) as \(summary.name)."
            }
            await refreshVisibilities()
        }
    }

    func cancelJoining() { joinTask?.cancel() }

    func pause(_ circle: JoinedCircle.Summary, _ isPaused: Bool) async {
        await change(circle) { circle in
            guard isPaused else {
                try await circle.resume()
                return "Others can notice you."
            }
            switch try await circle.pause() {
            case .delivered: return "Paused. This circle's members stop recognising you within six hours."
            case .pending: return "Paused. Your keys are withdrawn as soon as the circle's server can be reached."
            case .signedOut:
                return
                    "Paused. You are signed out of the circle: your published keys end within four days, and the pause goes on when you join again."
            }
        }
    }

    /// Changes what the members of a circle see of the user, and what this device takes of them.
    func set(_ decision: JoinedCircle.VisibilityChange, in summary: JoinedCircle.Summary) async {
        await change(summary) { circle in
            // First on this device, so that the screen shows it without waiting for the server.
            try await circle.change(decision, tellingNow: false)
            if decision.othersPhotos == false { photos = [:] }
            await refresh()
            let delivery = try await circle.change(JoinedCircle.VisibilityChange())
            await refresh()
            return Self.words(for: decision, delivery, isPaused: summary.isPaused)
        }
    }

    /// What has changed. Members notice nothing of what this device fetches, nor during a pause whether the user takes waves.
    private static func words(
        for decision: JoinedCircle.VisibilityChange, _ delivery: JoinedCircle.Delivery, isPaused: Bool
    ) -> String {
        if let isFetching = decision.othersPhotos {
            return isFetching
                ? "The photos of the others come with the next synchronisation."
                : "The photos of the others are removed from this device, and not fetched any more."
        }
        let isUnnoticed = isPaused && decision.waves != nil
        let after = isUnnoticed && decision.waves == true ? " Members can wave at you when the pause is over." : ""
        switch delivery {
        case .delivered: return "Changed." + (isUnnoticed ? after : " Members' devices notice within six hours.")
        case .pending:
            return "Changed on this device. The circle's server learns of it once it can be reached." + after
        case .signedOut:
            return "Changed on this device. The circle's server learns of it when you join again." + after
        }
    }

    func leave(_ circle: JoinedCircle.Summary) async {
        await change(circle) { circle in
            let members = try? await circle.members().map(\.person)
            let delivery = try await circle.leave()
            // The photos of others are read again. Who was in a table that cannot be read is not known.
            photos = [:]
            waves.removeAll { members?.contains($0.person) ?? true }
            await refresh()
            let left = "You have left. Nothing of the circle is here any more."
            switch delivery {
            case .delivered: return left
            case .pending: return left + " Its server learns of it as soon as it can be reached."
            case .signedOut:
                return left
                    + " Its server does not know, because the sign-in had ended: members may see your name, photo and batch for at least 30 days after the sign-in of your last device has ended. To end that now, join again and leave."
            }
        }
    }

    func wave(at person: UserNumber, _ text: String) async {
        await tell {
            let vault = try await open()
            let log = EncounterLog(in: vault, community: Self.community)
            guard let circle = try await circles(of: person, in: vault).first else {
                return "You can wave at members of your circles only."
            }
            guard try await circle.wave(at: person, text: text, log: log) else {
                return "You have waved. The circle's server gets the wave as soon as it can be reached."
            }
            waves += try await circle.collectWaves()
            return "You have waved. It is seen when the other person waves too."
        }
    }

    /// Hides the user and a person from each other, in each circle that has both.
    func hide(from person: UserNumber) async {
        await tell {
            let vault = try await open()
            var hidings: [JoinedCircle.Hiding] = []
            for circle in try await circles(of: person, in: vault) {
                hidings.append(try await circle.hide(person))
            }
            await readCircles(in: vault)
            guard !hidings.isEmpty else { return "You can hide from members of your circles only." }
            photos = photos.filter { $0.key.person != person }
            var text = "In your circles, you and this person no longer see each other."
            if hidings.contains(where: \.wasFriend) {
                text += " You are no longer friends; your other friends need new keys."
            }
            let silence =
                "until then nothing is sent for that circle, so its other members cannot notice you either."
            if hidings.contains(where: { $0.delivery == .pending }) {
                text += " A circle's server that does not know learns of it as soon as it can be reached; " + silence
            }
            if hidings.contains(where: { $0.delivery == .signedOut }) {
                text += " You are signed out of a circle, whose server learns of it when you join again; " + silence
            }
            return text + " To undo it: Circles and settings."
        }
    }

    /// Ends hiding from a person, or ignoring one who was forgotten.
    func unhide(_ person: UserNumber, in circle: JoinedCircle.Summary) async {
        await change(circle) { circle in
            let wasIgnored = try await circle.visibility().ignored.contains(person)
            let delivery = try await circle.unhide(person)
            await refresh()
            let moment =
                switch delivery {
                case .delivered: "within six hours"
                case .pending: "once the circle's server can be reached"
                case .signedOut: "when you have joined the circle again"
                }
            return wasIgnored
                ? "This device recognises a member again \(moment)." : "You see each other again \(moment)."
        }
    }

    /// Reads the circles again: after a failure they say why.
    func refresh() async {
        guard let vault = try? await open() else { return }
        await readCircles(in: vault)
    }

    /// Reads the circles again, then asks their servers what they show of the user: until a server has said it, the settings cannot
    /// be changed, and another device may have changed them.
    func refreshVisibilities() async {
        await refresh()
        guard let vault = try? await open() else { return }
        for circle in (try? await JoinedCircle.all(in: environment(vault))) ?? [] {
            // A server that cannot be reached is asked when the screen is opened again.
            _ = try? await circle.refreshVisibility()
        }
        await readCircles(in: vault)
    }

    private func readCircles(in vault: any Vault) async {
        var summaries: [JoinedCircle.Summary] = []
        var found: [String: JoinedCircle.Visibility] = [:]
        for circle in (try? await JoinedCircle.all(in: environment(vault))) ?? [] {
            guard let summary = try? await circle.summary(), let visibility = try? await circle.visibility() else {
                continue
            }
            summaries.append(summary)
            found[summary.address] = visibility
        }
        (circles, visibilities) = (summaries, found)
    }

    /// The circles that a person is a member of.
    ///
    /// - Throws: where none has the person, and there is one whose table cannot be read: it may.
    private func circles(of person: UserNumber, in vault: any Vault) async throws -> [JoinedCircle] {
        let all = try await JoinedCircle.all(in: environment(vault))
        var found: [JoinedCircle] = []
        for circle in all where try await circle.introduce(person) != nil { found.append(circle) }
        guard found.isEmpty else { return found }
        for circle in all {
            if case .unreadableTable(let name)? = try await circle.summary().tableProblem {
                throw NearbyError.circle(.unreadableTable(circle: name))
            }
        }
        return []
    }

    /// No alerts for so many seconds; nil shows them again.
    func setQuiet(for seconds: Double?) async {
        await tell {
            let end = seconds.map { Self.now + $0 }
            try await DoNotDisturb(in: try await open(), community: Self.community).set(until: end)
            quietUntil = end.map { Date(timeIntervalSince1970: $0) }
            return nil
        }
    }

    /// Removes a friend's keys, and ends those that the friend has of the user.
    func unfriend(_ person: UserNumber) async {
        await tell {
            let wasFriend = try await stored(try await open()).unfriend(person)
            photos = photos.filter { $0.key.person != person }
            return wasFriend
                ? "Removed. This person no longer recognises you as a friend. Pair again with your other friends: they need new keys."
                : "There were no keys of this person."
        }
    }

    func forget(_ person: UserNumber) async {
        await tell {
            let vault = try await open()
            let deletion = try await stored(vault).forget(person)
            photos = photos.filter { $0.key.person != person }
            waves.removeAll { $0.person == person }
            await readCircles(in: vault)
            var gone = "Nothing about this person is here any more."
            if visibilities.values.contains(where: { $0.ignored.contains(person) }) {
                gone += " This device ignores the person from now on. To undo it: Circles and settings."
            }
            guard deletion.unreadableCircles > 0 else { return gone }
            return gone
                + " A circle's table could not be read, so all of it was removed, and with it the identities by which you knew its members. The members are fetched again. Ask people in person, and pair with them."
        }
    }

    func forgetEverything() async {
        // An attempt that goes on would join when everything is forgotten.
        joinTask?.cancel()
        await joinTask?.value
        await tell {
            let vault = try await open()
            _ = try await stored(vault).forgetEveryone()
            await stored(vault).deliverFarewells(over: .platform, at: Self.now)
            return "Everything is forgotten. People you have paired with need new keys."
        }
    }

    // MARK: Helpers

    /// The vault, without what has expired.
    func open() async throws -> any Vault {
        if let vault { return vault }
        let opened = try await KeychainVault.open()
        vault = opened
        _ = try await stored(opened).expire(at: Self.now)
        await stored(opened).deliverFarewells(over: .platform, at: Self.now)
        return opened
    }

    nonisolated static var now: Double { Date().timeIntervalSince1970 }

    private func environment(_ vault: any Vault) -> CircleEnvironment {
        CircleEnvironment(vault: vault, community: Self.community, alerts: alerts)
    }

    /// What is stored of people; a notification about who is forgotten is removed.
    private func stored(_ vault: any Vault) -> StoredPeople {
        StoredPeople(in: vault, community: Self.community, alerts: alerts)
    }

    private func change(
        _ summary: JoinedCircle.Summary, _ body: @MainActor (JoinedCircle) async throws -> String
    ) async {
        await tell {
            for circle in try await JoinedCircle.all(in: environment(try await open())) {
                if try await circle.summary().address == summary.address { return try await body(circle) }
            }
            return nil
        }
    }

    /// Runs an action, and says what came of it.
    private func tell(_ action: @MainActor () async throws -> String?) async {
        do {
            message = try await action() ?? message
        } catch is CancellationError {
            // The user has cancelled.
        } catch {
            message = "\(error)"
        }
    }
}
