#if CommandLine
import ArgumentParser
import Foundation
import Geofences
import Handshake
import IFTTTConnect
import OAuth

/// Whose connections give the areas.
struct PlacesAccountOptions: ParsableArguments {
    @Option(help: "The account that keeps the IFTTT user's token.")
    var account = "ifttt"

    @Option(
        name: .customLong("connection"),
        help: ArgumentHelp("A connection whose areas are watched from now on (repeatable).", valueName: "id"),
        transform: IFTTTOptions.connection)
    var connections: [ConnectionID] = []

    @OptionGroup var host: IFTTTHostOptions

    /// The synchronizer of the account, without asking the service.
    ///
    /// - Parameter takesRegions: whether the command can do without the account, by `--regions`.
    /// - Throws: `CommandError` when there is no such account.
    func synchronizer(takesRegions: Bool = false) async throws -> PlacesSynchronizer {
        let vault = try await host.common.openVault(try Settings.load())
        let tokens = try await KnownAccount.naming(account) { () -> UserTokens? in
            guard let client = try await Registrations(in: vault).client(named: account),
                client.service.name == Service.ifttt.name
            else { return nil }
            return UserTokens(in: try Handshake(client, vault: vault), as: account)
        }
        guard let tokens else {
            throw CommandError(
                status: .signInNeeded, code: "sign_in_required",
                message: "No IFTTT user is signed in as “\(account)”. "
                    + (takesRegions ? "Name the areas with --regions FILE, or connect" : "Connect")
                    + " with: handshake ifttt connect CONNECTION")
        }
        let api = ConnectAPI(.stored(tokens), at: try host.hosts())
        return PlacesSynchronizer(of: account, api: api, vault: vault)
    }

    /// Synchronizes, activating the connections that the command line names, and tells what was uploaded.
    ///
    /// - Throws: `CommandError` when the service refused the token or could not be reached.
    func synchronize(_ synchronizer: PlacesSynchronizer) async throws {
        let printing = Task {
            var isSignInRequired = false
            var failure: ConnectError?
            for await event in synchronizer.events {
                if case .signInRequired = event { isSignInRequired = true }
                if case .uploadFailed(_, let error, _) = event { failure = error }
                show(event)
            }
            return (isSignInRequired, failure)
        }
        let outcome = try await PlacesFailure.reported { try await synchronizer.activate(connections) }
        await synchronizer.finishEvents()
        let (isSignInRequired, failure) = await printing.value
        if isSignInRequired {
            throw CommandError(
                status: .signInNeeded, code: "sign_in_required",
                message:
                    "IFTTT rejected the user token of “\(account)”. Pending crossings stay stored. Connect again with: "
                    + "handshake ifttt connect CONNECTION")
        }
        if let failure { throw IFTTTFailure.commandError(failure) }
        if outcome == .failed {
            throw CommandError(
                status: .network, code: "not_synchronized",
                message:
                    "The connections could not be fetched. Pending crossings stay stored. Try again with: handshake places sync"
            )
        }
    }

    private func show(_ event: PlaceEvent) {
        switch event {
        case .uploaded(let crossing, _): show("uploaded", crossing, reason: nil)
        case .discarded(let crossing, let reason): show("discarded", crossing, reason: reason.rawValue)
        case .uploadFailed(let crossing, let error, _): show("waiting", crossing, reason: error.code)
        case .statusChanged(.active(let count)): Output.note("Watching \(count) areas.")
        case .statusChanged(.inactive(let missing)): Output.note("Watching no area: \(Self.explanation(missing))")
        case .recorded, .uploadAttempted, .regionsChanged, .signInRequired, .synchronizationFailed, .queueDamaged: break
        }
    }

    private func show(_ state: String, _ crossing: AreaCrossing, reason: String?) {
        if host.common.json {
            Output.result(Self.json(crossing, state: state, reason: reason).text)
        } else {
            let time = PlacesPrinter.time(Date(timeIntervalSince1970: crossing.occurredAt))
            let why = reason.map { " (\($0.replacing("_", with: " ")))" } ?? ""
            Output.result(
                "\(time)  \(crossing.kind.rawValue) \(quoted(crossing.subscriptionID, limit: 100)): \(state)\(why)")
        }
    }

    static func json(_ crossing: AreaCrossing, state: String, reason: String?) -> JSONText {
        .object([
            ("state", .string(state)), ("record_id", .string(crossing.id)),
            ("trigger_subscription_id", .string(crossing.subscriptionID)),
            ("event_type", .string(crossing.kind.rawValue)),
            ("occurred_at", .string(PlacesPrinter.time(Date(timeIntervalSince1970: crossing.occurredAt)))),
            ("reason", .optional(reason)),
        ])
    }

    private static func explanation(_ missing: PlaceEvent.Status.Missing) -> String {
        switch missing {
        case .connections: "no connection is watched; name one with --connection ID."
        case .areas: "no watched connection has an area; set one on its page at IFTTT."
        case .permission: "positions are not allowed."
        case .signIn: "sign-in is required; connect with: handshake ifttt connect CONNECTION"
        }
    }
}
#endif
