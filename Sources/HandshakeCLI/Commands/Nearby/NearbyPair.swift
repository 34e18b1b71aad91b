#if CommandLine
import ArgumentParser
import Beacons
import Circles
import Foundation
import Handshake
import Nearby
import OAuth
import RecurseCenter

struct NearbyPair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair", abstract: "Exchange keys with a person beside you: both screens show the same six digits.",
        discussion: """
            One of you runs `pair` without a code, and the other one with the code that the first screen shows. Then each of you types \
            the six digits of the other's screen: if they differ, another device is in between, and nothing is stored. The keys are \
            signed and last 31 days. \
            Where the two devices are in no common network, use --by-hand on both: the messages are lines to copy.
            """)

    @Argument(help: "The code that the other screen shows.")
    var code: String?

    @Option(
        help: "The name that the other person sees. Unless stated, it is yours in a circle, or at the Recurse Center.")
    var name: String?

    @Option(
        help: "Your own number. Unless stated, it is that of your circle, or the Recurse Center is asked.",
        transform: PersonArgument.parse)
    var me: UserNumber?

    @Flag(help: "Exchange the messages as lines that you copy, instead of over the network.")
    var byHand = false

    @Flag(help: "Accept a connection from this machine only, to pair two of its users.")
    var local = false

    @OptionGroup var options: NearbyOptions

    func run() async throws {
        let vault = try await NearbyVault.open(options.common)
        let store = PairingAttempts(in: vault, community: NearbyCommand.community)
        // First: it says whether the other person's keys could be stored at the end.
        try await NearbyFailure.reported { try await store.begin(at: Now.seconds) }
        let (number, name) = try await identity(in: vault)
        let exchange: PairingExchange
        do {
            if let code {
                let parsed = try PairingCode(code)
                let line: any PairingTransport = byHand ? HandLine() : try await Self.connect(to: parsed)
                exchange = try PairingExchange(joining: parsed, over: line)
            } else {
                let line: any PairingTransport = byHand ? HandLine() : try PairingConnection(isLocal: local)
                exchange = PairingExchange(offeringOver: line)
                show(exchange.code)
            }
        } catch {
            throw Self.commandError(error)
        }
        do {
            let card = try await exchange.finish(
                isSame: { try await isSame($0) },
                card: { scope in
                    try await RollingKeys(in: vault, community: NearbyCommand.community)
                        .pairingCard(in: scope, number: number, name: name, at: Now.timestamp)
                })
            let person = try await NearbyFailure.reported {
                try await RollingKeys(in: vault, community: NearbyCommand.community).addPaired(card, at: Now.timestamp)
            }
            try await NearbyFailure.reported { try await store.note(success: true, at: Now.seconds) }
            print(card, person)
        } catch {
            try? await store.note(success: false, at: Now.seconds)
            throw Self.commandError(error)
        }
    }

    /// Whether the other screen shows the same digits: the user types them, so that the two are really compared.
    private func isSame(_ digits: String) async throws -> Bool {
        let shown = digits.prefix(3) + " " + digits.suffix(3)
        if options.common.json {
            Output.result(JSONText.object([("event", .string("digits")), ("digits", .string(digits))]).text)
        } else {
            Output.note("This screen shows \(shown).")
        }
        let typed = try await Prompt.line("Type the six digits that the other screen shows:", wanted: "the digits")
        return typed.filter(\.isNumber) == digits
    }

    private func show(_ code: PairingCode) {
        if options.common.json {
            return Output.result(JSONText.object([("event", .string("code")), ("code", .string(code.text))]).text)
        }
        if Terminal.canRedraw,
            let picture = QRCode(Array(code.text.utf8))?.picture(columns: Terminal.columns, rows: Terminal.rows)
        {
            Output.note("Scan this code, or run on the other device:")
            Output.error(picture)
        } else {
            Output.note("Run on the other device:")
        }
        Output.result("handshake nearby pair \(code.text)")
        guard !byHand, !local else { return }
        Output.note("Both devices must be in the same network. If they are not, use --by-hand on both.")
    }

    private func identity(in vault: any Vault) async throws -> (UserNumber?, String) {
        let circle = try await NearbyFailure.reported {
            try await JoinedCircle.all(in: NearbyVault.environment(vault)).first?.summary()
        }
        let center = try await options.center(in: vault)
        var number = me ?? circle?.number
        if number == nil, let center { number = try await options.ownNumber(center, in: vault) }
        if let name { return (number, name) }
        if let circle { return (number, circle.name) }
        if let center, let profile = try? await center.profile(.me) { return (number, profile.name) }
        throw CommandError.usage("Say how the other person knows you: --name NAME")
    }

    private func print(_ card: PairingCard, _ person: UserNumber) {
        if options.common.json {
            Output.result(
                JSONText.object([
                    ("person", .integer(Int64(person.value))), ("name", .string(card.name)),
                    ("days", .integer(Int64(card.keys.count))),
                ]).text)
        } else {
            Output.note(
                "You and \(quoted(card.name, limit: 80)) recognise each other for \(card.keys.count) days, as number \(person)."
            )
        }
    }

    private static func connect(to code: PairingCode) async throws -> PairingConnection {
        guard let address = code.address else {
            throw CommandError.usage("This pairing code has no network address. Use --by-hand on both devices.")
        }
        return try await PairingConnection.connect(to: address)
    }

    private static func commandError(_ error: any Error) -> any Error {
        switch error {
        case let error as CircleError:
            let status: ExitStatus = if case .malformed(.pairingCode) = error { .usage } else { .refused }
            return CommandError(status: status, code: "pairing_failed", message: error.description)
        case PairingProblem.noNetwork:
            return CommandError(
                status: .network, code: "pairing_failed",
                message:
                    "This device is in no network, so it cannot show a code. Connect to one, or use --by-hand on both devices."
            )
        case let error as PairingProblem:
            let option = if case .unreachable = error { ", with --by-hand on both" } else { "" }
            return CommandError(status: .network, code: "pairing_failed", message: error.description + option)
        default: return error
        }
    }
}

/// As lines that the users copy from one screen to the other.
private struct HandLine: PairingTransport {
    var address: PairingCode.Address? { nil }

    func waitForAnother(within seconds: Int) async -> Bool { false }

    func send(_ message: [UInt8]) async throws {
        Output.note("Give this line to the other device:")
        Output.result(Base64URL.encode(message))
    }

    func receive(within seconds: Int) async throws -> [UInt8] {
        let line = try await Prompt.line(
            "Paste the line that the other device shows:", wanted: "the other device's line")
        guard let message = Base64URL.decode(line.filter { !$0.isWhitespace }) else {
            throw CircleError.malformed(.pairingMessage)
        }
        return message
    }
}
#endif
