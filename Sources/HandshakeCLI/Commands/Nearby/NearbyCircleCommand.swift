#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth

/// `handshake nearby circle …`: communities whose members recognise each other offline.
struct NearbyCircleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "circle",
        abstract: "Join a circle: its members recognise each other, also without a network.",
        discussion: """
            A circle's server knows who is a member, and what members see of each other. It never learns who met whom: each \
            device fetches the whole table every few hours and recognises people by itself. Pause, leave, hide and rotate take \
            effect for others within six hours, and on this device immediately.
            """,
        subcommands: [
            CircleJoin.self, CircleMembers.self, CirclePause.self, CircleResume.self, CircleHide.self,
            CircleUnhide.self, CircleSettings.self,
            CircleRotate.self, CircleSync.self, CircleLeave.self,
        ])
}

/// Which circle is meant.
struct CircleChoice: ParsableArguments {
    @Option(help: ArgumentHelp("The circle, if you are in several: its address.", valueName: "url"))
    var circle: String?

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var common: CommonOptions

    /// The circle.
    ///
    /// - Throws: ``CommandError`` with status 64 when there is none, or several and none was chosen.
    func chosen(in vault: any Vault) async throws -> JoinedCircle {
        let wanted = circle
        return try await NearbyFailure.reported {
            var found: [(circle: JoinedCircle, summary: JoinedCircle.Summary)] = []
            for circle in try await JoinedCircle.all(in: NearbyVault.environment(vault)) {
                let summary = try await circle.summary()
                if wanted.map({ Self.isSame($0, summary.address) }) ?? true { found.append((circle, summary)) }
            }
            guard let first = found.first else { throw NearbyError.circle(.notJoined) }
            guard found.count == 1 else {
                let addresses = found.map { quoted($0.summary.address, limit: 200) }.joined(separator: ", ")
                throw CommandError.usage("You are in several circles. Choose one with --circle: \(addresses)")
            }
            return first.circle
        }
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        func plain(_ text: String) -> Substring { text.hasSuffix("/") ? text.dropLast() : text[...] }
        return plain(one) == plain(other)
    }
}

/// A command about the chosen circle.
protocol CircleCommand: BoundedCommand {
    var choice: CircleChoice { get }
}

extension CircleCommand {
    var timeout: Int { choice.timeout }

    /// Runs `body` with the chosen circle and the vault.
    func withCircle<Result>(_ body: (JoinedCircle, any Vault) async throws -> Result) async throws -> Result {
        let vault = try await NearbyVault.open(choice.common)
        return try await NearbyFailure.reported { try await body(choice.chosen(in: vault), vault) }
    }
}

/// A change of one's membership.
protocol CircleChange: CircleCommand {
    /// What was done, in words, and the members of the JSON object that say more than the summary.
    typealias Done = (words: String, members: [(String, JSONText)])

    func change(_ circle: JoinedCircle) async throws -> Done
}

extension CircleChange {
    func run() async throws {
        try await withCircle { circle, _ in
            let done = try await change(circle)
            guard choice.common.json else { return Output.note(done.words) }
            Output.result(CircleText.json(try await circle.summary(), done.members).text)
        }
    }
}

struct CircleMembers: CircleCommand {
    static let configuration = CommandConfiguration(
        commandName: "members", abstract: "List the members, as this device has fetched them.")

    @OptionGroup var choice: CircleChoice

    func run() async throws {
        let (members, trouble) = try await withCircle { circle, _ in
            (try await circle.members(), try await circle.summary().trouble)
        }
        if let trouble { Output.note(quoted(trouble, limit: 600)) }
        if choice.common.json {
            let rows = members.map { member in
                JSONText.object([
                    ("person", .integer(Int64(member.person.value))), ("name", .string(member.name)),
                    ("batch", .string(member.batch)), ("trust", .string(member.trust.word)),
                    ("publishing", .bool(member.isPublishing)), ("waves", .bool(member.takesWaves)),
                ])
            }
            return Output.result(JSONText.object([("members", .array(rows))]).text)
        }
        guard !members.isEmpty else {
            return Output.note("You are the only member, or the table has not been fetched yet.")
        }
        let rows = members.map { member in
            [
                member.person.description, member.name, member.batch,
                member.trust == .unverified
                    ? "new identity: ask in person, then pair again"
                    : member.isPublishing ? "can be recognised" : "not today",
            ]
        }
        for line in Table.lines([["NUMBER", "NAME", "BATCH", "STATE"]] + rows) { Output.result(line) }
    }
}

struct CirclePause: CircleChange {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Send nothing for a circle, and withdraw your keys, until `resume`.",
        discussion:
            "Your other circles and your friends still recognise you. Members still see your name, and your photo and batch where these are on: see `settings`."
    )

    @OptionGroup var choice: CircleChoice

    func change(_ circle: JoinedCircle) async throws -> Done {
        let delivery = try await circle.pause()
        return (CircleText.paused(delivery), [("told", .bool(delivery == .delivered))])
    }
}

struct CircleResume: CircleChange {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "End a pause: members recognise you again, by new keys.",
        discussion: "Each circle has keys of its own: your other circles and your friends do not notice.")

    @OptionGroup var choice: CircleChoice

    func change(_ circle: JoinedCircle) async throws -> Done {
        try await circle.resume()
        return ("Resumed with new keys. The circle's members recognise you again within six hours.", [])
    }
}

struct CircleHide: CircleChange {
    static let configuration = CommandConfiguration(
        commandName: "hide", abstract: "Hide yourself and a person from each other.",
        discussion:
            "The person is not told. You get new keys in this circle; the person's keys stop working immediately. A friend is no longer one, as after: handshake nearby unfriend NUMBER"
    )

    @Argument(help: ArgumentHelp("The person's number.", valueName: "number"), transform: PersonArgument.parse)
    var person: UserNumber

    @OptionGroup var choice: CircleChoice

    func change(_ circle: JoinedCircle) async throws -> Done {
        let hiding = try await circle.hide(person)
        return (
            CircleText.hidden(hiding, from: "number \(person)"),
            [("told", .bool(hiding.delivery == .delivered)), ("was_friend", .bool(hiding.wasFriend))]
        )
    }
}

struct CircleUnhide: CircleChange {
    static let configuration = CommandConfiguration(
        commandName: "unhide", abstract: "Stop hiding from a person, or ignoring a member whom you forgot.")

    @Argument(help: ArgumentHelp("The person's number.", valueName: "number"), transform: PersonArgument.parse)
    var person: UserNumber

    @OptionGroup var choice: CircleChoice

    func change(_ circle: JoinedCircle) async throws -> Done {
        let wasIgnored = try await circle.visibility().ignored.contains(person)
        let delivery = try await circle.unhide(person)
        let text = CircleText.shown("Number \(person)", wasIgnored: wasIgnored, delivery)
        return (text, [("told", .bool(delivery == .delivered))])
    }
}

struct CircleRotate: CircleChange {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replace your identity, in case another device has a copy.",
        discussion:
            "Your present identity signs the new one, so members need not ask you. When no device of yours has it any more, use: handshake nearby circle join URL --replace"
    )

    @OptionGroup var choice: CircleChoice

    func change(_ circle: JoinedCircle) async throws -> Done {
        try await circle.rotate()
        return (
            "Your identity and seed in this circle are new. A device that holds the old ones is locked out.", []
        )
    }
}

struct CircleSync: CircleCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Fetch the members and their keys now, and publish yours if they are due.",
        discussion: "A running `watch` or `open` does so every three to six hours.")

    @OptionGroup var choice: CircleChoice

    func run() async throws {
        let count = try await withCircle { circle, _ in try await circle.synchronize() }
        if choice.common.json {
            Output.result(JSONText.object([("members", .integer(Int64(count)))]).text)
        } else {
            Output.note("The table has \(count == 1 ? "1 member" : "\(count) members") besides you.")
        }
    }
}

struct CircleLeave: CircleCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "Leave a circle, and remove everything about it and its members from this device.")

    @OptionGroup var choice: CircleChoice

    func run() async throws {
        let (address, delivery) = try await withCircle { circle, _ in
            (try await circle.summary().address, try await circle.leave())
        }
        if choice.common.json {
            Output.result(
                JSONText.object([
                    ("left", .bool(true)), ("server_told", .bool(delivery == .delivered)),
                    ("signed_out", .bool(delivery == .signedOut)),
                ]).text)
        } else {
            Output.note(NamedVault.given.completed(CircleText.left(delivery, address: address), isLine: true))
        }
    }
}

enum CircleText {
    static func paused(_ delivery: JoinedCircle.Delivery) -> String {
        switch delivery {
        case .delivered: "Paused. The circle's members stop recognising you within six hours."
        case .pending:
            "Paused. Nothing is sent for the circle. Its server does not know yet: your keys are withdrawn at the next synchronisation."
        case .signedOut:
            "Paused. Nothing is sent for the circle. This device is signed out of it: your published keys end within four days, and your pause goes on when you join again."
        }
    }

    /// - Parameter address: the circle's, for the command that joins it again; nil on the companion's page.
    static func left(_ delivery: JoinedCircle.Delivery, address: String? = nil) -> String {
        let left =
            "You have left the circle. The table, the photos and your identity in it are removed from this device."
        switch delivery {
        case .delivered: return left
        case .pending:
            return
                "\(left) Its server cannot be reached, and learns of it from a later command or a running watch. Until then you stay on its list."
        case .signedOut:
            let command = address.map { address in
                let circle = quoted(address, limit: 200)
                return ": handshake nearby circle join \(circle) && handshake nearby circle leave --circle \(circle)"
            }
            return
                "\(left) Its server does not know, because the sign-in had ended: members may see your name, photo and batch for at least 30 days after the sign-in of your last device has ended. To end that now, join again and leave\(command ?? ".")"
        }
    }

    /// - Parameter person: as in “number 36”.
    static func hidden(_ hiding: JoinedCircle.Hiding, from person: String) -> String {
        var text = "In this circle, you and \(person) no longer see each other."
        if hiding.wasFriend { text += " You are no longer friends; your other friends need new keys." }
        switch hiding.delivery {
        case .delivered: return text
        case .pending: text += " The circle's server learns of it at the next synchronisation"
        case .signedOut:
            text += " This device is signed out of the circle, whose server learns of it when you join again"
        }
        return text
            + "; until then nothing is sent for the circle, so its other members cannot notice you either."
    }

    /// - Parameters:
    ///   - person: as in “Number 36”.
    ///   - wasIgnored: whether the user had forgotten the person, and did not hide.
    ///   - delivery: whether the circle's server knows it.
    static func shown(_ person: String, wasIgnored: Bool = false, _ delivery: JoinedCircle.Delivery) -> String {
        guard !wasIgnored else {
            let ended = "\(person) is no longer ignored."
            return switch delivery {
            case .delivered: "\(ended) This device recognises a member again within six hours."
            case .pending:
                "\(ended) The circle's server cannot be reached: this device recognises a member again after the next synchronisation."
            case .signedOut:
                "\(ended) This device is signed out of the circle: it recognises a member again when you have joined again."
            }
        }
        return switch delivery {
        case .delivered: "\(person) and you see each other again within six hours."
        case .pending:
            "\(person) is no longer hidden on this device. The circle's server does not know yet: you see each other again after the next synchronisation."
        case .signedOut:
            "\(person) is no longer hidden on this device, which is signed out of the circle: you see each other again when you have joined again."
        }
    }

    /// That a circle's members cannot notice the user, since when, and what to do; nil where they can, and in a pause.
    ///
    /// - Parameter isOnPage: whether the cure is on the companion's page, or in a terminal.
    static func silence(of summary: JoinedCircle.Summary, isOnPage: Bool = false) -> String? {
        guard summary.isSilent else { return nil }
        let circle = quoted(summary.circle, limit: 80)
        let fault =
            summary.keysEnd.map { "Since \(Moment.text($0)) others in \(circle) cannot notice you" }
            ?? "Others in \(circle) cannot notice you"
        let address = quoted(summary.address, limit: 200)
        switch (summary.mustJoinAgain, isOnPage) {
        case (true, true):
            return "\(fault): this device is signed out of it. To sign in again, join it under Circles: \(address)"
        case (true, false):
            return
                "\(fault): this device is signed out of it. To sign in again, run: handshake nearby circle join \(address)"
        case (false, true):
            return "\(fault): your keys are not published. To publish them now, press Fetch the table under Circles"
        case (false, false):
            return "\(fault): your keys are not published. To publish them now, run: handshake nearby circle sync"
        }
    }

    static func json(_ summary: JoinedCircle.Summary, _ more: [(String, JSONText)] = []) -> JSONText {
        .object(
            [
                ("address", .string(summary.address)), ("circle", .string(summary.circle)),
                ("number", .integer(Int64(summary.number.value))), ("name", .string(summary.name)),
                ("paused", .bool(summary.isPaused)), ("members", summary.members.map { .integer(Int64($0)) } ?? .null),
                ("expires_at", .seconds(summary.expires)), ("trouble", .optional(summary.trouble)),
            ] + more)
    }
}
#endif
