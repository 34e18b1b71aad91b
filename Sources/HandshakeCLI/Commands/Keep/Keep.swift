#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import Logging
import OAuth
import Synchronization

struct Keep: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep",
        abstract: "Refresh accounts before their tokens expire, until interrupted.",
        discussion: """
            Prints a line for each account that was refreshed, failed or ended. Any number of these processes can share a vault: each \
            account is refreshed once. Examples:

            handshake keep
            handshake keep --once --ahead 3600          (from cron, each hour)
            handshake keep --dry-run

            With --once, exit status 3 means that a session has ended, and 4 to 7 that an account could not be refreshed.
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Refresh what is due, each account at most once, and end.")
    var once = false

    @Option(
        help: ArgumentHelp("With --once: refresh also what is due within this time.", valueName: "seconds"))
    var ahead = 0

    @Flag(help: "Show when each account is due, and refresh nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("The maximum number of refreshes per second at each service.", valueName: "number"))
    var rate = 10.0

    @Option(
        help: ArgumentHelp(
            "The maximum number of refreshes running concurrently at each service (default: the rate, from 8 to 64). "
                + "On Linux at most 64 run concurrently.",
            valueName: "number"))
    var concurrent: Int?

    @Option(
        help: ArgumentHelp("Refresh an account after this time, however long its token lives.", valueName: "seconds"))
    var maximumAge = 86_400

    @Option(help: ArgumentHelp("Where to report sessions that ended, as a Standard Webhook.", valueName: "url"))
    var webhook: String?

    @Option(help: ArgumentHelp("The webhook's secret (whsec_…), in a file or - for standard input.", valueName: "file"))
    var webhookSecretFile: String?

    private func check() throws(CommandError) {
        guard rate.isFinite, (0.001...100_000).contains(rate) else {
            throw .usage("--rate takes 0.001 to 100000 refreshes a second, not \(rate).")
        }
        guard concurrent.map({ (1...100_000).contains($0) }) ?? true else {
            throw .usage("--concurrent takes 1 to 100000 refreshes, not \(concurrent ?? 0).")
        }
        guard (1...31_536_000).contains(maximumAge) else {
            throw .usage("--maximum-age takes 1 to 31536000 seconds, not \(maximumAge).")
        }
        guard (0...31_536_000).contains(ahead) else {
            throw .usage("--ahead takes 0 to 31536000 seconds, not \(ahead).")
        }
        guard ahead == 0 || once else { throw .usage("--ahead needs --once.") }
        guard !(once && dryRun) else { throw .usage("Use --once or --dry-run, not both.") }
        guard webhookSecretFile == nil || webhook != nil else {
            throw .usage("--webhook-secret-file needs --webhook.")
        }
    }

    func run() async throws {
        try check()
        let hook = try await makeWebhook()
        let choice = try common.vaultChoice(Settings.load())
        let vault = try await (once || dryRun ? choice.openExisting() : choice.openShared()).vault
        var options = Keeper.Options()
        options.maximumAge = Double(maximumAge)
        options.limit = Keeper.RateLimit(perSecond: rate, concurrent: concurrent)
        let keeper = Keeper(of: KnownAccounts(in: vault), options: options, webhook: hook)
        if dryRun { return try await plan(keeper) }
        let printer = KeepPrinter(isJSON: common.json)
        let events = keeper.events
        // In a task of its own: what happened last is printed also when the command was interrupted.
        let printing = Task { for await event in events { printer.print(event) } }
        if once {
            defer { printing.cancel() }
            let report = try await keeper.runOnce(horizon: Double(ahead))
            keeper.endEvents()
            await printing.value
            printer.print(report)
            if let failure = printer.failure(report) { throw failure }
        } else {
            await keeper.run()
            keeper.endEvents()
            await printing.value
            printer.print(keeper.report)
            throw CancellationError()
        }
    }

    private func makeWebhook() async throws -> KeeperWebhook? {
        guard let webhook else { return nil }
        var secret: Secret?
        if let webhookSecretFile {
            secret = try await SecretLine.read(
                webhookSecretFile, what: "webhook secret", option: "--webhook-secret-file")
        }
        let url = try EndpointURL(webhook, security: .allowingInsecureLoopback, member: "--webhook")
        return try KeeperWebhook(url, secret: secret)
    }

    private func plan(_ keeper: Keeper) async throws {
        let now = TimeSource.system.now()
        let isJSON = common.json
        try await keeper.plan { id, due in
            guard !isJSON else {
                return Output.result(
                    JSONText.object([
                        ("account", .string(id.name)), ("service", .string(id.service)), ("due_at", .seconds(due)),
                        ("is_due", .bool(due.map { $0 <= now } ?? false)),
                    ]).text)
            }
            let when = due.map { $0 <= now ? "now" : "due after " + Moment.text($0) } ?? "not refreshed"
            Output.result("\(id.name)  \(id.service)  \(when)")
        }
    }
}

/// Prints the events of a keeper.
private struct KeepPrinter: Sendable {
    let isJSON: Bool
    private let last = LastError()

    init(isJSON: Bool) { self.isJSON = isJSON }

    func print(_ event: KeeperEvent) {
        var members: [(String, JSONText)] = [("event", .string(event.word))]
        if let account = event.account { members.append(("account", .string(account.name))) }
        members += [("service", .string(event.service)), ("time", .seconds(event.time))]
        let who = event.account.map { "\($0.name) (\(event.service))" } ?? event.service
        let text: String
        switch event.change {
        case .refreshed(let next):
            members.append(("next_at", .seconds(next)))
            text = "refreshed \(who), next \(Moment.text(next))"
        case .ended(let reason):
            members.append(("reason", .string(reason.rawValue)))
            let name = event.account?.name ?? event.service
            text = NamedVault.given.completed(
                "ended \(who): \(reason.text). Sign in again with: \(KnownAccount.login(name, at: event.service))",
                isLine: true)
        case .failed(let error, let at):
            last.note(error)
            members += [("code", .string(error.code)), ("retry_at", .seconds(at))]
            text = "failed \(who): \(error)"
        case .paused(let error, let until):
            members += [("code", .string(error.code)), ("until", .seconds(until))]
            text = "paused \(who) until \(Moment.text(until)): \(error)"
        case .resumed: text = "resumed \(who)"
        }
        Output.result(isJSON ? JSONText.object(members).text : quoted(text, limit: 4_096))
    }

    func print(_ report: KeeperReport) {
        guard isJSON else {
            return Output.note(
                "\(report.refreshed) refreshed, \(report.failed) failed, \(report.ended) ended, "
                    + "\(report.postponed) left for later.")
        }
        let counts = [
            ("refreshed", report.refreshed), ("current", report.current), ("failed", report.failed),
            ("ended", report.ended), ("postponed", report.postponed), ("not_kept", report.left),
            ("damaged", report.damaged),
        ]
        Output.result(
            JSONText.object([("event", .string("done"))] + counts.map { ($0.0, .integer(Int64($0.1))) }).text)
    }

    /// The error of a pass that was not wholly successful.
    func failure(_ report: KeeperReport) -> CommandError? {
        if let error = last.value {
            return CommandError(
                status: ExitStatus(error), code: error.code,
                message: report.failed == 1
                    ? "1 account could not be refreshed: \(error)"
                    : "\(report.failed) accounts could not be refreshed. The last error: \(error)")
        }
        if report.damaged > 0 {
            return CommandError(
                status: .vault, code: "vault_incomplete",
                message: "\(report.damaged == 1 ? "1 record" : "\(report.damaged) records") could not be read. "
                    + "See: handshake vault check")
        }
        guard report.ended > 0 else { return nil }
        return CommandError(
            status: .signInNeeded, code: "sign_in_required",
            message: "\(report.ended == 1 ? "1 session has" : "\(report.ended) sessions have") ended. "
                + "List the accounts with: handshake accounts")
    }
}

/// The last error, noted by one task and read by another.
private final class LastError: Sendable {
    private let state = Mutex<HandshakeError?>(nil)

    var value: HandshakeError? { state.withLock { $0 } }
    func note(_ error: HandshakeError) { state.withLock { $0 = error } }
}

extension KeeperEvent {
    /// A stable word for programs.
    fileprivate var word: String {
        switch change {
        case .refreshed: "refreshed"
        case .ended: "ended"
        case .failed: "failed"
        case .paused: "paused"
        case .resumed: "resumed"
        }
    }
}
#endif
