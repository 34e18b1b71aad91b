#if CommandLine
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import Radio

/// Watching with all that belongs to it: circles kept current, answers to waves, what is sent, and a restart when keys or
/// circles change.
struct NearbySession: Sendable {
    typealias Photo = @Sendable (UserNumber) async -> [UInt8]?

    var me: UserNumber?
    let options: NearbyOptions
    let sink: any NearbySink
    /// What shows alerts, given photos.
    let alerts: @Sendable (@escaping Photo) -> any Alerts
    /// Called with the people who can be recognised, at each beginning.
    var began: @Sendable (KnownPeople) async -> Void = { _ in }

    /// Watches until the radio ends or the account is signed out.
    ///
    /// - Parameter sending: what is sent, asked at each beginning.
    func run(
        over radio: any Radio, in vault: any Vault, sending: @escaping @Sendable () -> NearbySending
    ) async throws {
        let isSignedIn = try await options.center(in: vault) != nil
        while true {
            switch try await watch(over: radio, in: vault, sending()) {
            case .ended: return
            case .changed: continue
            case .everyoneForgotten: break
            }
            guard try await isSignedIn == (options.center(in: vault) != nil) else {
                return Output.note("The account was signed out, so watching ends.")
            }
            Output.note("Everyone was forgotten. The watch restarts.")
        }
    }

    /// Watches until the radio ends, everyone is forgotten, or what is recognised and sent changes.
    private func watch(
        over radio: any Radio, in vault: any Vault, _ sending: NearbySending
    ) async throws -> PeopleVault.Ending {
        let period = try await NearbyVault.period(vault)
        let people = try await KnownPeople.gather(
            me: me, options: options, center: try await options.center(in: vault), vault: period
        ) { sink.note(signInEnded: $0) }
        await began(people)
        let broadcasts = try broadcasts(for: people, sending)
        if broadcasts == nil { sink.noteSilence() }
        let quiet = DoNotDisturb(in: period, community: NearbyCommand.community)
        let nearby = PeopleNearby(
            log: EncounterLog(in: period, community: NearbyCommand.community), ignoring: people.own,
            alerts: QuietableAlerts(alerts(people.photo), except: quiet) { Now.seconds }, lookup: people.lookup)
        return try await period.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                for circle in people.circles {
                    group.addTask { try await CircleCompanion(circle, sink).run() }
                }
                group.addTask {
                    try await nearby.run(
                        over: radio, recognizing: people.recognition, sending: broadcasts,
                        radioEvent: { sink.note($0, sending: people.scopes) }, report: { sink.note($0) })
                    throw WatchEnded()
                }
                do {
                    // The first that ends with an error ends all.
                    for try await _ in group {}
                } catch is WatchEnded {
                    // A recording has ended.
                }
            }
        }
    }

    private struct WatchEnded: Error {}

    /// What is sent; nil for nothing, which the user is told of.
    private func broadcasts(for people: KnownPeople, _ sending: NearbySending) throws -> Broadcasts? {
        guard sending.sends else { return nil }
        // A static number would tell those whom the pause is meant for.
        let isStatic = sending.advertise == .static
        let broadcasts = people.isPaused && isStatic ? nil : try sending.broadcasts(of: people.own, people.scopes)
        if people.isPaused {
            Output.note(
                broadcasts == nil
                    ? "You have paused: nothing is sent." : "You have paused in a circle: nothing is sent for it.")
        } else if broadcasts == nil {
            Output.note(NearbySending.noCurrentKeys)
        }
        return broadcasts
    }
}

/// What a watch does for a circle meanwhile: it keeps keys and tables current, and asks for answers to waves.
private struct CircleCompanion: Sendable {
    private let circle: JoinedCircle
    private let sink: any NearbySink

    /// How often answers are asked for while a wave waits, in seconds.
    private static let wavePause = 300.0...600.0

    init(_ circle: JoinedCircle, _ sink: any NearbySink) {
        self.circle = circle
        self.sink = sink
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { [circle, sink] in
                try await circle.keepSynchronized { error in
                    if let error { sink.note(circleFailed: error) }
                }
            }
            group.addTask { [circle, sink] in
                while true {
                    do {
                        for wave in try await circle.collectWaves() { sink.show(wave) }
                    } catch is CancellationError {
                        throw CancellationError()
                    } catch {
                        // Asked again later.
                    }
                    try await Task.sleep(for: .seconds(Double.random(in: Self.wavePause)))
                }
            }
            for try await _ in group {}
        }
    }
}
#endif
