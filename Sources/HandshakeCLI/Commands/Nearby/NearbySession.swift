#if CommandLine
import Beacons
import Circles
import Foundation
import Handshake
import Nearby
import OAuth
import Radio

/// Watching as the command does it: with the service for names, and a restart when keys or circles change.
struct NearbySession: Sendable {
    typealias Photo = @Sendable (UserNumber, CircleScope?) async -> [UInt8]?

    var me: UserNumber?
    let options: NearbyOptions
    let sink: any NearbySink
    /// What shows alerts, given what remembers those that are shown, and photos.
    let alerts: @Sendable (ShownNotices, @escaping Photo) -> any Alerts
    /// Called with the people who can be recognised, at each beginning.
    var began: @Sendable (LookedUpPeople) async -> Void = { _ in }

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
        try await PeopleNearby.watch(in: vault, community: NearbyCommand.community) { period in
            let people = try await LookedUpPeople.gather(
                me: me, options: options, center: try await options.center(in: vault), vault: period,
                trouble: { sink.note(trouble: $0, $1) }, signInEnded: { sink.note(signInEnded: $0) })
            await began(people)
            let broadcasts = try broadcasts(for: people.known, sending)
            if broadcasts == nil {
                sink.noteSilence(!sending.sends ? nil : Self.silence(of: people.known, sending))
            }
            let notices = ShownNotices(in: period, community: NearbyCommand.community)
            return WatchPlan(
                people.known, over: radio, sending: broadcasts, alerts: alerts(notices, people.photo),
                lookup: people.lookup, radioEvent: { sink.note($0, sending: people.known.scopes) }
            ) { event in
                switch event {
                case .update(let update): sink.note(update)
                case .answered(let wave): sink.show(wave)
                case .circleFailed(let error): sink.note(circleFailed: error)
                }
            }
        }
    }

    /// Why nothing is sent, although the user wants it.
    static func silence(of people: KnownPeople, _ sending: NearbySending) -> NearbySilence {
        let ended = people.summaries.compactMap { CircleText.silence(of: $0, isOnPage: true) }
        // A pause stops a static number; keys that have ended do not.
        if sending.advertise == .rolling, !ended.isEmpty { return .keysEnded(ended.joined(separator: ". ")) }
        return people.isPaused ? .paused : .noCurrentKeys
    }

    /// What is sent; nil for nothing, which the user learns.
    private func broadcasts(for people: KnownPeople, _ sending: NearbySending) throws -> Broadcasts? {
        guard sending.sends else { return nil }
        // A static number would tell those whom the pause is meant for.
        let isStatic = sending.advertise == .static
        let broadcasts = people.isPaused && isStatic ? nil : try sending.broadcasts(of: people.own, people.scopes)
        let ended: [String] = isStatic ? [] : people.summaries.compactMap { CircleText.silence(of: $0) }
        for sentence in ended { Output.note(NamedVault.given.completed(sentence, isLine: true)) }
        if people.isPaused {
            Output.note(
                broadcasts == nil
                    ? "You have paused: nothing is sent." : "You have paused in a circle: nothing is sent for it.")
        } else if broadcasts == nil, ended.isEmpty {
            Output.note(NearbySending.noCurrentKeys)
        }
        return broadcasts
    }
}
#endif
