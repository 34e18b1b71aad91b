#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import OAuth
#if PostgreSQL
import PostgresVault
#endif
#if SQLite
import SQLiteVault
#endif

/// What looks after the vault itself.
struct VaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault", abstract: "Check, count, create and copy vaults, and rotate their keys.",
        subcommands: [VaultCheck.self, VaultStats.self, VaultMigrate.self, VaultCopy.self, VaultRotateKey.self])

    /// The error of a command that could not read or write some records.
    ///
    /// - Parameter shown: of how many of them the reasons were shown before.
    static func failed(_ count: Int, of what: String, shown: Int) -> CommandError {
        let reasons = shown < count ? "the first \(shown) reasons" : "the reasons"
        return CommandError(
            status: .vault, code: "vault_incomplete",
            message: "\(records(count)) could not be \(what). See \(reasons) above.")
    }

    /// A number of records in words.
    static func records(_ count: Int) -> String { count == 1 ? "1 record" : "\(count) records" }

    /// What is said of records that both vaults of a copy have, and whose names are not shown.
    static func unnamed(_ count: Int) -> String {
        count == 1
            ? "and 1 more record differs and was left as it is"
            : "and \(count) more records differ and were left as they are"
    }

    /// The error of a copy that left records which both vaults have.
    static func different(_ count: Int) -> CommandError {
        let (verb, outcome, newer) =
            count == 1 ? ("is", "was left as it is", "one") : ("are", "were left as they are", "ones")
        return CommandError(
            status: .vault, code: "vault_different",
            message: "\(records(count)) \(verb) in both vaults with different contents, and \(outcome). "
                + "If FROM has the newer \(newer), run the command again with --replace")
    }

    static func json(_ errors: [VaultError]) -> JSONText {
        .array(
            errors.map {
                .object([("code", .string($0.code)), ("message", .string(quoted($0.description, limit: 4096)))])
            })
    }
}

struct VaultCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Read every record, and say which are damaged.",
        discussion: "Nothing is changed. The exit status is 7 when something is damaged.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let vault = try await common.vaultChoice(Settings.load()).requireExisting().vault
        var failures: [VaultError] = []
        #if SQLite
        do {
            try await (vault as? SQLiteVault)?.checkIntegrity()
        } catch let error as VaultError {
            failures.append(error)
        }
        #endif
        let inventory = try await VaultProgress().inventory(of: vault)
        let count = failures.count + inventory.failureCount
        failures += inventory.failures
        if common.json {
            Output.result(
                JSONText.object([
                    ("healthy", .bool(count == 0)), ("records", .integer(Int64(inventory.records))),
                    ("unreadable", .integer(Int64(count))), ("failures", VaultCommand.json(failures)),
                ]).text)
        } else {
            Output.result("\(VaultCommand.records(inventory.records)) can be read, \(count) cannot.")
        }
        for failure in failures { _ = Failure.report(failure) }
        if count > 0 { throw VaultCommand.failed(count, of: "read", shown: failures.count) }
    }
}

struct VaultStats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count the records of each kind and their bytes.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let choice = try common.vaultChoice(Settings.load())
        let opened = try await choice.requireExisting()
        let inventory = try await VaultProgress().inventory(of: opened.vault)
        print(inventory, at: choice.location(of: opened))
        for failure in inventory.failures { _ = Failure.report(failure) }
        if inventory.failureCount > 0 {
            throw VaultCommand.failed(inventory.failureCount, of: "read", shown: inventory.failures.count)
        }
    }

    private func print(_ inventory: VaultInventory, at location: String) {
        if common.json {
            let kinds = inventory.counts.map { count in
                JSONText.object([
                    ("kind", .string(count.kind.rawValue)), ("records", .integer(Int64(count.records))),
                    ("bytes", .integer(Int64(count.bytes))), ("largest", .integer(Int64(count.largest))),
                ])
            }
            return Output.result(
                JSONText.object([
                    ("vault", .string(location)), ("records", .integer(Int64(inventory.records))),
                    ("bytes", .integer(Int64(inventory.bytes))),
                    ("unreadable", .integer(Int64(inventory.failureCount))),
                    ("kinds", .array(kinds)),
                ]).text)
        }
        let rows = inventory.counts.map { ["\($0.kind.rawValue)", "\($0.records)", "\($0.bytes)", "\($0.largest)"] }
        let total = [
            "total", "\(inventory.records)", "\(inventory.bytes)", "\(inventory.counts.map(\.largest).max() ?? 0)",
        ]
        for line in Table.lines([["KIND", "RECORDS", "BYTES", "LARGEST"]] + rows + [total]) { Output.result(line) }
    }
}

struct VaultMigrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Create the vault, or upgrade one that an older version made.",
        discussion:
            "Idempotent. A vault in a database is created by this command alone; one of files also by the first sign-in."
    )

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let choice = try common.vaultChoice(Settings.load())
        let (isNew, location) = try await choice.migrate()
        if common.json {
            Output.result(JSONText.object([("vault", .string(location)), ("created", .bool(isNew))]).text)
        } else {
            Output.note(isNew ? "Created the vault \(location)." : "The vault \(location) is up to date.")
        }
    }
}

struct VaultCopy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy every record to another vault, and compare each with what is read back.",
        discussion: """
            FROM and TO are written as for --vault, such as files:DIR, sqlite:FILE or postgres:CONNECTION. A copy that was interrupted is completed by the same command. \
            Use only one of the two vaults afterwards: if both refresh an account, services that detect reuse end its session. Examples:

            handshake vault copy files:accounts sqlite:accounts.sqlite
            handshake vault copy --from-key "command:cat key" files:app sqlite:app.sqlite

            The second copies a vault that an app made with a key file of its own.
            """)

    @Argument(help: "The vault to read.")
    var from: String

    @Argument(help: "The vault to write.")
    var to: String

    @Option(
        help: ArgumentHelp(
            "Where the key of FROM comes from: credential:NAME, command:PROGRAM ARGUMENT… or secret-service",
            valueName: "key"))
    var fromKey: String?

    @Option(
        help: ArgumentHelp("Where the key of TO comes from, as for --from-key.", valueName: "key"))
    var toKey: String?

    @Flag(help: "Replace records that TO has with other contents.")
    var replace = false

    @Flag(help: "Print the result as one JSON object, and errors as JSON too.")
    var json = false

    @Flag(help: "Print only results and errors.")
    var quiet = false

    func run() async throws {
        let settings = try Settings.load()
        let (source, target) = (
            try VaultChoice(from, named: "FROM", key: fromKey, keyOption: "--from-key", settings: settings),
            try VaultChoice(to, named: "TO", key: toKey, keyOption: "--to-key", settings: settings)
        )
        guard !source.isMemory, !target.isMemory else {
            throw CommandError.usage("A vault in memory is lost when the command ends. Name two permanent vaults.")
        }
        // What is shown of a connection is not all that it says: of two in databases, the records tell below.
        guard source.isPostgres || source.storage != target.storage else { throw Self.same(source.storage) }
        let (old, new) = (try await source.requireExisting().vault, try await target.open().vault)
        #if PostgreSQL
        // One database has many addresses. Its copy would wait for itself, record after record.
        if let old = old as? PostgresVault, let new = new as? PostgresVault, old.identifier == new.identifier,
            try await old.isSame(as: new)
        {
            throw Self.same(source.storage)
        }
        #endif
        let progress = VaultProgress()
        let report = try await progress.during(advice: Self.interrupted) { [replace] in
            try await old.copyRecords(to: new, replacing: replace) { progress.note(Self.counts($0)) }
        }
        print(report)
        for failure in report.failures { _ = Failure.report(failure) }
        for key in report.different {
            Output.note(
                "handshake: the \(key.kind.rawValue) “\(quoted(key.components.last ?? "", limit: 200))” differs and was left as it is"
            )
        }
        let unnamed = report.differentCount - report.different.count
        if unnamed > 0 { Output.note("handshake: \(VaultCommand.unnamed(unnamed))") }
        if report.failureCount > 0 {
            throw VaultCommand.failed(report.failureCount, of: "copied", shown: report.failures.count)
        }
        guard report.differentCount == 0 else { throw VaultCommand.different(report.differentCount) }
        Output.note("Every record of FROM is in TO. Use TO from now on, and remove FROM when you no longer need it.")
    }

    /// What is said after the counts of a copy that was interrupted.
    private static let interrupted = "Nothing was removed. Run the same command again to copy the rest."

    private static func same(_ storage: String) -> CommandError {
        .usage("FROM and TO are the same vault, “\(quoted(storage, limit: 200))”.")
    }

    private func print(_ report: VaultCopyReport) {
        if json {
            return Output.result(
                JSONText.object([
                    ("copied", .integer(Int64(report.copied))), ("present", .integer(Int64(report.present))),
                    ("different", .integer(Int64(report.differentCount))),
                    ("failed", .integer(Int64(report.failureCount))), ("failures", VaultCommand.json(report.failures)),
                ]).text)
        }
        Output.result(Self.counts(report))
    }

    private static func counts(_ report: VaultCopyReport) -> String {
        "\(VaultCommand.records(report.copied)) copied, \(report.present) already there, \(report.differentCount) different, "
            + "\(report.failureCount) failed"
    }
}

struct VaultRotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Seal every record of a vault in a database with a new key, while it is used.",
        discussion: """
            An interrupted rotation is completed by the same command. If a record stands in its way, the command makes another key anyway. \
            The old key is retired when no record needs it; backups of the vault from before still do. A vault of files gets a new key by a copy to another folder: vault copy.
            """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let choice = try common.vaultChoice(Settings.load())
        guard !choice.isMemory else { throw VaultChoice.endsWithCommand }
        let opened = try await choice.requireExisting()
        #if SQLite
        if let vault = opened.vault as? SQLiteVault {
            return try report(await vault.rotateKey())
        }
        #endif
        #if PostgreSQL
        if let vault = opened.vault as? PostgresVault {
            let place = opened.key == .keyring ? "the desktop's keyring" : "this machine's key folder"
            let ending = opened.key == .keyring ? "" : ".key"
            // Before the rotation goes on, which may take long, or be interrupted: until they have the key, other machines write nothing.
            let rotation = try await vault.rotateKey { key in
                Output.note(
                    "A key is in \(place), as \(key)\(ending). Copy it now to every other machine that uses the vault: once the vault uses it, a machine without it can write nothing. If an error follows, the key may have been removed again."
                )
            }
            return try report(rotation)
        }
        #endif
        throw CommandError.usage(
            "Only a vault in a database can change its key while it is used. Copy this one to a new folder, which gets a key of its own: "
                + "handshake vault copy \(KnownAccount.shellWord(choice.location(of: opened))) files:DIR")
    }

    #if SQLite || PostgreSQL
    private func report(_ rotation: VaultKeyRotation) throws {
        if common.json {
            Output.result(
                JSONText.object([
                    ("key", .integer(rotation.key)), ("resumed", .bool(rotation.isResumed)),
                    ("resealed", .integer(Int64(rotation.resealed))),
                    ("retired", .array(rotation.retired.map { .integer($0) })),
                    ("failed", .integer(Int64(rotation.failureCount))),
                    ("failures", VaultCommand.json(rotation.failures)),
                ]).text)
        } else {
            Output.result(
                "\(VaultCommand.records(rotation.resealed)) sealed with key \(rotation.key), \(rotation.failureCount) not."
            )
        }
        for failure in rotation.failures { _ = Failure.report(failure) }
        if rotation.failureCount > 0 {
            throw VaultCommand.failed(
                rotation.failureCount, of: "sealed with the new key", shown: rotation.failures.count)
        }
        if rotation.isResumed {
            Output.note("This completed a rotation that was interrupted. Run the command again for another new key.")
        }
        Output.note("The vault no longer needs the old key. Backups of the vault from before do.")
    }
    #endif
}
#endif
