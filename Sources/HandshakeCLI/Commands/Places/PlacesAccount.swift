#if CommandLine
import ArgumentParser
import Foundation
import Geofences
import Handshake
import IFTTTConnect
import OAuth

/// The account whose connections give the areas.
struct PlacesAccountOptions: ParsableArguments {
    @Option(help: "The account that keeps the IFTTT user's token.")
    var account = "ifttt"

    @OptionGroup var host: IFTTTHostOptions

    /// The synchronizer of the account, without asking the service.
    ///
    /// - Parameters:
    ///   - takesRegions: whether the command can do without the account, by `--regions`.
    ///   - interval: the seconds between two fetches of the areas.
    /// - Throws: `CommandError` when there is no such account.
    func synchronizer(takesRegions: Bool = false, interval: Int? = nil) async throws -> PlacesSynchronizer {
        let vault = try await host.common.openVault(try Settings.load())
        guard try await KnownAccount.naming(account, { try await tokens(in: vault) }) != nil else {
            throw CommandError(
                status: .signInNeeded, code: "sign_in_required",
                message: "No IFTTT user is signed in as “\(account)”. "
                    + (takesRegions ? "Name the areas with --regions FILE, or connect" : "Connect")
                    + " with: handshake ifttt connect CONNECTION")
        }
        // Looked up for each call, because another command may sign in or out meanwhile.
        let caller = ConnectAPI.Caller(userToken: { try await tokens(in: vault)?.token() })
        var configuration = PlacesSynchronizer.Configuration()
        if let interval { configuration.interval = .seconds(interval) }
        // What became of a crossing is reported however slowly it is read.
        configuration.maximumEvents = .max
        return PlacesSynchronizer(
            of: account, api: ConnectAPI(caller, at: try host.hosts()), vault: vault, configuration: configuration)
    }

    private func tokens(in vault: any Vault) async throws -> UserTokens? {
        guard let client = try await Registrations(in: vault).client(named: account),
            client.service.name == Service.ifttt.name
        else { return nil }
        return UserTokens(in: try Handshake(client, vault: vault), as: account)
    }

    /// Runs a body; the error of a damaged record says how to be rid of it.
    func reported<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await PlacesFailure.reported(body)
        } catch HandshakeError.vault(let error) {
            throw curable(error)
        }
    }

    func curable(_ error: VaultError) -> any Error {
        guard case .damaged = error else { return error }
        return CommandError(
            status: .vault, code: error.code,
            message: "\(error) Forget what is stored of “\(account)” with: handshake logout "
                + "\(KnownAccount.shellWord(account)) --local\n"
                + "Then connect again with: handshake ifttt connect CONNECTION")
    }

    /// Why the last synchronization did not succeed, and what waits; nil when it did.
    func failure(of synchronizer: PlacesSynchronizer) async throws -> CommandError? {
        guard try await synchronizer.isSignedIn else { return rejection }
        guard let failure = await synchronizer.lastFailure else { return nil }
        var error = IFTTTFailure.commandError(failure)
        if case HandshakeError.vault(let damage) = error { error = curable(damage) }
        guard let report = Failure.report(of: error) else { return nil }
        let count = (try? await synchronizer.waiting().count) ?? 0
        return CommandError(
            status: report.status, code: report.code,
            message: report.message
                + (count == 0
                    ? ""
                    : " \(PlacesPrinter.pending(count)) Upload \(count == 1 ? "it" : "them") with: "
                        + "handshake places sync --once"))
    }

    private var rejection: CommandError {
        CommandError(
            status: .signInNeeded, code: "sign_in_required",
            message: "The session of “\(account)” at IFTTT has ended: its user token was rejected or removed. "
                + "Pending crossings stay stored. Connect again with: handshake ifttt connect CONNECTION")
    }

    /// How the events of a synchronizer are printed.
    enum Style {
        /// What became of each crossing is the command's result.
        case results
        /// The results are others.
        case notes
    }

    /// Prints events until they end.
    ///
    /// - Parameter goesOn: whether failures are printed here, because the command goes on after them.
    func show(_ events: AsyncStream<PlaceEvent>, as style: Style, goesOn: Bool) async {
        var areas: [Geofence]?
        var told: String?
        for await event in events {
            switch event {
            case .uploaded(let crossing, _): show("uploaded", crossing, reason: nil, style)
            case .discarded(let crossing, let reason): show("discarded", crossing, reason: reason.rawValue, style)
            case .uploadFailed(let crossing, let error, _):
                if style == .results { show("pending", crossing, reason: error.code, style) }
            case .statusChanged(.active(let count)):
                told = nil
                Output.note("Watching \(PlacesPrinter.counted(count, "area")).")
            case .statusChanged(.inactive(let missing)): Output.note(Self.explanation(missing))
            case .regionsChanged(let regions):
                // Another number is reported by the status.
                if let areas, !areas.isEmpty, areas.count == regions.count { Output.note("The areas have changed.") }
                areas = regions
            case .signInRequired: if goesOn { Output.note(rejection.message) }
            case .synchronizationFailed(let error):
                let report = Failure.report(of: IFTTTFailure.commandError(error))
                guard goesOn, let message = report?.message, message != told else { continue }
                told = message
                Output.note("\(message) Trying again.")
            case .queueDamaged(let error):
                Output.note(
                    "\(error) It had at most 50 crossings; the others are used. "
                        + "Remove it with: handshake places queue --discard-damaged")
            case .recorded, .uploadAttempted: break
            }
        }
    }

    private func show(_ state: String, _ crossing: AreaCrossing, reason: String?, _ style: Style) {
        if style == .results, host.common.json {
            return Output.result(Self.json(crossing, state: state, reason: reason).text)
        }
        let line = Self.text(crossing) + ": \(state)" + (reason.map { " (\($0.replacing("_", with: " ")))" } ?? "")
        if style == .results { Output.result(line) } else { Output.note(line) }
    }

    static func text(_ crossing: AreaCrossing) -> String {
        let time = PlacesPrinter.time(Date(timeIntervalSince1970: crossing.occurredAt))
        return "\(time)  \(crossing.kind.rawValue) \(quoted(crossing.subscriptionID, limit: 100))"
    }

    static func json(_ crossing: AreaCrossing, state: String, reason: String?) -> JSONText {
        .object([
            ("state", .string(state)), ("record_id", .string(crossing.id)),
            ("trigger_subscription_id", .string(crossing.subscriptionID)),
            ("event_type", .string(crossing.eventType.rawValue)),
            ("occurred_at", .string(PlacesPrinter.time(Date(timeIntervalSince1970: crossing.occurredAt)))),
            ("reason", .optional(reason)),
        ])
    }

    private static func explanation(_ missing: PlaceEvent.Status.Missing) -> String {
        switch missing {
        case .connections: "No area is watched: no connection is watched. Name one with --connection ID."
        case .areas: "No area is watched: no watched connection has an area. Set one on its page at IFTTT."
        case .permission: "No area is watched: location access is denied. Allow it in the system's settings."
        case .signIn:
            "Sign-in is required before crossings are uploaded. Connect with: handshake ifttt connect CONNECTION"
        }
    }
}

/// Which connections give the areas, besides those of earlier commands.
struct PlacesConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("connection"),
        help: ArgumentHelp("A connection whose areas are watched from now on (repeatable).", valueName: "id"),
        transform: IFTTTOptions.connection)
    var connections: [ConnectionID] = []

    /// Refuses connections beside another option that names the areas.
    func requireNone(beside option: String) throws {
        guard connections.isEmpty else {
            throw ValidationError("--connection names areas of IFTTT. Leave out \(option).")
        }
    }
}

/// How often the areas are fetched.
struct PlacesIntervalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The time between two fetches of the areas, 1 to 86400.", valueName: "seconds"))
    var interval = 3_600

    func validate() throws {
        guard (1...86_400).contains(interval) else {
            throw ValidationError("--interval takes 1 to 86400 seconds, not \(interval).")
        }
    }
}
#endif
